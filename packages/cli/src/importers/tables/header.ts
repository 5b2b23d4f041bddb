import { UnusableFile } from '../ingest/unusable-file.ts';
import type { ByteSource } from './byte-source.ts';
import { type Line, readLines } from './line-reader.ts';
import { MAX_LINE_BYTES, parseFields } from './row-reader.ts';

/** The first line of a delimited file. */
export interface Header {
  readonly delimiter: string;
  readonly names: readonly string[];
  /** Position after the line. */
  readonly end: number;
}

const MAX_COLUMNS = 200;

/**
 * Reads the header, which is the first non-empty line. The delimiter that gives the most names is used. Throws UnusableFile if
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
    const line = lines.find(({ text, problem }) => text.trim() !== '' || problem !== '');
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
