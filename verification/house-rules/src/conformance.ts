/** The statements of each section of the interface specification: its table rows, list items and paragraphs, without markup. */
export function readStatements(specification: string): Map<string, string[]> {
  const sections = new Map<string, string[]>();
  let section = '';
  let isHeading = true;
  for (const line of specification.split('\n')) {
    if (line.startsWith('#')) {
      section = line.replace(/^#+ /, '');
    } else if (line.startsWith('|')) {
      // The first row of a table is its heading.
      if (!isHeading && !/^\|[-|]+$/.test(line)) add(sections, section, cellsOf(line).join(' · '));
      isHeading = false;
      continue;
    } else if (line !== '' && !line.endsWith(':')) {
      add(sections, section, plain(line.replace(/^(- |\d+\. )/, '')));
    }
    isHeading = true;
  }
  return sections;
}

export interface ConformanceRow {
  /** The first words of the statement. */
  readonly statement: string;
  /** A part of the title of the test, and the file with it, relative to the root. */
  readonly test: string;
  readonly file: string;
}

/** The rows of the page about conformance, by section. Throws on a row without exactly one test. */
export function readRows(page: string): Map<string, ConformanceRow[]> {
  const files = new Map(
    [...page.matchAll(/^\[([\w-]+)\]: \.\.\/(.+)$/gm)].map(([, name, file]) => [name, file]),
  );
  const sections = new Map<string, ConformanceRow[]>();
  let section = '';
  for (const line of page.split('\n')) {
    if (line.startsWith('#')) section = line.replace(/^#+ /, '');
    if (!line.startsWith('|') || !/^\d/.test(section) || /^\|(-|\s*Statement)/.test(line)) continue;
    const cells = cellsOf(line);
    const [, test, name] = /^\[(.+)\]\[([\w-]+)\]$/.exec(cells[2] ?? '') ?? [];
    const file = files.get(name);
    if (cells.length !== 3 || test === undefined || file === undefined)
      throw new Error(`No test in: ${line}`);
    add(sections, section, { statement: cells[0] ?? '', test, file });
  }
  return sections;
}

function cellsOf(row: string): string[] {
  return plain(row)
    .slice(1, -1)
    .split('|')
    .map((cell) => cell.trim());
}

function plain(text: string): string {
  return text.replaceAll('`', '');
}

function add<T>(sections: Map<string, T[]>, section: string, item: T): void {
  sections.set(section, [...(sections.get(section) ?? []), item]);
}
