/** Shortens an archive file's name for a report to its end, without control characters that affect a terminal. */
export function toOrigin(name: string): string {
  return name.replaceAll(/[^\w./-]/g, '?').slice(-100);
}
