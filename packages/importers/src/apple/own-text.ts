/**
 * A copy of a text that is kept. What the parser hands out are views into the piece of the file they stand in, and a view
 * keeps the whole piece in memory.
 */
export function toOwnText(text: string): string {
  return Buffer.from(text).toString();
}
