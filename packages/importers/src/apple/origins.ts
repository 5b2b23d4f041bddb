/** The name of a file in an archive as it may stand in a report: its end, without anything that a terminal acts upon. */
export function toOrigin(name: string): string {
  return name.replaceAll(/[^\w./-]/g, '?').slice(-100);
}
