/** Copies a text that is kept. The parser returns views into a chunk of the file, and each view keeps its whole chunk in memory. */
export function toOwnText(text: string): string {
  return Buffer.from(text).toString();
}
