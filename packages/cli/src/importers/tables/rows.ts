import { CsvError } from 'csv-parse';
import { parse } from 'csv-parse/sync';
import { UnusableFile } from '../ingest/importer.ts';
import { type ByteSource, type Line, readLines } from './lines.ts';

/** One record of a delimited file. */
export interface Row {
  /** Its first line, from 1. */
  readonly line: number;
  /** Position after the record. */
  readonly end: number;
  /** As many as the header has; empty for an empty line and for an unusable record. */
  readonly fields: readonly string[];
  /** Why the record cannot be used; empty if it can. */
  readonly problem: string;
}

interface RowReaderOptions {
  /** A single character. */
  readonly delimiter: string;
  /** Number of fields of a record. */
  readonly width: number;
  /** Records that end at or before this byte are not returned; at least the end of the header. */
  readonly from: number;
}

/** Maximum line length in bytes; texts accepted by the rpc are far shorter. */
const MAX_LINE_BYTES = 64 * 1024;
/** Quoted fields may contain line breaks. A quote still open after this many lines is treated as a mistake. */
const MAX_RECORD_LINES = 100;

/**
 * Reads the records of a delimited file (RFC 4180, with any delimiter). A bad record does not affect others: after an
 * unclosed quote, reading continues with the next line.
 */
export async function* readRows(source: ByteSource, options: RowReaderOptions): AsyncGenerator<Row> {
  const assembler = new RowAssembler(options);
  for await (const lines of readLines(source, { maxLineBytes: MAX_LINE_BYTES, from: options.from })) {
    for (const line of lines) assembler.add(line);
    yield* assembler.take();
  }
  assembler.end();
  yield* assembler.take();
}

/** The fields of a record; null if its quotes are wrong. Starting the library costs more than a record, so it gets those with quotes only. */
function parseFields(text: string, delimiter: string): string[] | null {
  if (!text.includes('"')) return text.split(delimiter).map((field) => field.trim());
  const options = { delimiter, relax_column_count: true, trim: delimiter !== '\t', record_delimiter: '\n' };
  try {
    const [fields = null] = parse(text, options) as unknown as string[][];
    return fields;
  } catch (error) {
    if (error instanceof CsvError) return null;
    throw error;
  }
}

class RowAssembler {
  readonly #options: RowReaderOptions;
  #rows: Row[] = [];
  /** Lines since an unclosed quote. */
  #open: Line[] = [];

  constructor(options: RowReaderOptions) {
    this.#options = options;
  }

  add(line: Line): void {
    let lines = [line];
    while (lines.length > 0) {
      const [next, ...rest] = lines as [Line, ...Line[]];
      lines = [...this.#accept(next), ...rest];
    }
  }

  end(): void {
    while (this.#open.length > 0) for (const line of this.#giveUp()) this.add(line);
  }

  take(): Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  /** Processes a line. Returns lines that have to be read again. */
  #accept(line: Line): Line[] {
    if (this.#open.length > 0) return this.#continue(line);
    if (line.problem !== '') this.#addEmpty(line, line.problem);
    else if (hasOddQuotes(line.text)) this.#open = [line];
    else this.#addRow(line, parseFields(line.text, this.#options.delimiter));
    return [];
  }

  #continue(line: Line): Line[] {
    this.#open.push(line);
    const bytes = line.end - (this.#open[0]?.end ?? 0);
    if (line.problem !== '' || this.#open.length > MAX_RECORD_LINES || bytes > MAX_LINE_BYTES)
      return this.#giveUp();
    if (!hasOddQuotes(line.text)) return [];
    const fields = parseFields(this.#open.map(({ text }) => text).join('\n'), this.#options.delimiter);
    if (fields === null || fields.length !== this.#options.width) return this.#giveUp();
    this.#rows.push({ line: this.#open[0]?.number ?? line.number, end: line.end, fields, problem: '' });
    this.#open = [];
    return [];
  }

  /** Refuses the line that opened a quote; the following lines are read again separately. */
  #giveUp(): Line[] {
    const [first, ...others] = this.#open as [Line, ...Line[]];
    this.#open = [];
    this.#addEmpty(first, 'a quote is not closed');
    return others;
  }

  #addRow(line: Line, fields: readonly string[] | null): void {
    const { width } = this.#options;
    const { number, end } = line;
    if (fields === null) this.#addEmpty(line, 'quotes are wrong');
    else if (fields.every((field) => field === '')) this.#addEmpty(line);
    else if (fields.length === width) this.#rows.push({ line: number, end, fields, problem: '' });
    else
      this.#addEmpty(line, `record has ${fields.length < width ? 'fewer' : 'more'} fields than the header`);
  }

  /** Without a problem for an empty line. */
  #addEmpty({ number, end }: Line, problem = ''): void {
    this.#rows.push({ line: number, end, fields: [], problem });
  }
}

function hasOddQuotes(text: string): boolean {
  let count = 0;
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at + 1)) count += 1;
  return count % 2 === 1;
}

/** The first line of a delimited file. */
export interface Header {
  readonly delimiter: string;
  readonly names: readonly string[];
  /** Position after the line. */
  readonly end: number;
}

const MAX_COLUMNS = 200;
/** What Excel reads as the delimiter. The header shows it too. */
const SEPARATOR = /^"?sep=.?"?$/i;

/**
 * Reads the header, which is the first non-empty line besides `sep=;`. The delimiter that gives the most names is used. Throws UnusableFile if
 * there is no such line, or if it is not text.
 */
export async function readHeader(source: ByteSource, delimiters: readonly string[]): Promise<Header> {
  const line = await readFirstLine(source);
  if (line === null) throw new UnusableFile(`${source.name} is empty`);
  const at = `The header of ${source.name} in line ${line.number}`;
  if (line.problem !== '') throw new UnusableFile(`${at} cannot be read: ${line.problem}`);
  if (line.text.includes('\r'))
    throw new UnusableFile(`${source.name} ends its lines with CR only: save it with LF`);
  const [best] = delimiters
    .map((delimiter) => ({ delimiter, names: parseFields(line.text, delimiter) ?? [] }))
    .toSorted((one, other) => other.names.length - one.names.length);
  if (best === undefined || best.names.length === 0) throw new UnusableFile(`${at} has wrong quotes`);
  if (best.names.length > MAX_COLUMNS) throw new UnusableFile(`${at} has more than ${MAX_COLUMNS} columns`);
  return { ...best, end: line.end };
}

async function readFirstLine(source: ByteSource): Promise<Line | null> {
  for await (const lines of readLines(source, { maxLineBytes: MAX_LINE_BYTES })) {
    const line = lines.find(
      ({ text, problem }) => problem !== '' || (text.trim() !== '' && !SEPARATOR.test(text.trim())),
    );
    if (line !== undefined) return line;
  }
  return null;
}

/** The positions of known columns. */
export type Columns<Name extends string> = ReadonlyMap<Name, number>;

/**
 * Finds the columns of a format by name, ignoring case, spaces, `-` and `_`. Throws UnusableFile for unknown or repeated columns: a
 * typo in `end` would change the meaning of every line. The message quotes nothing from the file, which may have no header at all.
 */
export function findColumns<Name extends string>(header: Header, known: readonly Name[]): Columns<Name> {
  const columns = new Map<Name, number>();
  for (const [index, text] of header.names.entries()) {
    const name = known.find((each) => normalise(each) === normalise(text));
    if (name === undefined) {
      throw new UnusableFile(
        `Column ${index + 1} of the header is not known. There are: ${known.join(', ')}`,
      );
    }
    if (columns.has(name)) throw new UnusableFile(`The header has the column ${name} twice`);
    columns.set(name, index);
  }
  return columns;
}

/** Removes case and separators from a name. */
export function normalise(name: string): string {
  return name.replaceAll(/[ _-]/g, '').toLowerCase();
}
