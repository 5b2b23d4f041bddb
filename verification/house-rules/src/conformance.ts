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

interface ConformanceRow {
  /** The first words of the first and of the last statement that the row covers. */
  readonly first: string;
  readonly last: string;
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
    const [first = '', last = first] = cells[0]?.split(' … ') ?? [];
    add(sections, section, { first, last, test, file });
  }
  return sections;
}

/** What does not correspond: rows that do not begin with the next statement, and statements without a row. */
export function findGaps(statements: readonly string[], rows: readonly ConformanceRow[]): string[] {
  let rest = statements;
  for (const { first, last } of rows) {
    const end = rest.findIndex((text) => text.startsWith(last));
    if (first === '' || !rest[0]?.startsWith(first) || end === -1) return [`row: ${first}`, ...rest];
    rest = rest.slice(end + 1);
  }
  return [...rest];
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
