import { UnusableFile } from '../ingest/unusable-file.ts';
import type { ByteSource } from '../tables/byte-source.ts';
import { type Header, readHeader } from '../tables/header.ts';
import { type Row, readRows } from '../tables/row-reader.ts';
import { type AnyCells, TABLES, type TableName } from './tables.ts';

/** The file of one table. */
export interface TableFile {
  readonly name: TableName;
  readonly source: ByteSource;
  readonly header: Header;
}

/** One row of a table. */
export interface TableRow {
  readonly table: TableFile;
  readonly row: Row;
  readonly cells: AnyCells;
  /** Table and line as one number. */
  readonly origin: number;
  /** Position after the row, as in one concatenated file. */
  readonly end: number;
}

/** Every table has fewer lines than this. */
const LINES_OF_A_TABLE = 2 ** 40;

/** Opens the tables in the files. Throws UnusableFile if there is none, or if a header lacks a column. */
export function openTables(files: ReadonlyMap<TableName, ByteSource>): Promise<TableFile[]> {
  return Promise.all(Array.from(files, ([name, source]) => openTable(name, source)));
}

async function openTable(name: TableName, source: ByteSource): Promise<TableFile> {
  const header = await readHeader(source, ['\t']);
  if (new Set(header.names).size < header.names.length) {
    throw new UnusableFile(`The header of ${source.name} has a column twice`);
  }
  const missing = TABLES[name].required.filter((column) => !header.names.includes(column));
  if (missing.length > 0) throw new UnusableFile(`The header of ${source.name} lacks ${missing.join(', ')}`);
  return { name, source, header };
}

/** Total size of all tables in bytes. */
export function sizeOf(tables: readonly TableFile[]): number {
  return tables.reduce((sum, { source }) => sum + source.size, 0);
}

/** Describes an origin, such as `meds.txt line 17`. */
export function describeOrigin(tables: readonly TableFile[], origin: number): string {
  const table = tables[Math.floor(origin / LINES_OF_A_TABLE)];
  return `${table?.source.name ?? '?'} line ${origin % LINES_OF_A_TABLE}`;
}

/** Every row of every table. */
export async function* readTables(tables: readonly TableFile[]): AsyncGenerator<TableRow> {
  let start = 0;
  for (const [index, table] of tables.entries()) {
    const { names, end, delimiter } = table.header;
    const columns = new Map(names.map((name, column) => [name, column]));
    for await (const rows of readRows(table.source, { delimiter, width: names.length, from: end })) {
      for (const row of rows) {
        const cells: AnyCells = (column) => row.fields[columns.get(column) ?? -1] ?? '';
        yield { table, row, cells, origin: index * LINES_OF_A_TABLE + row.line, end: start + row.end };
      }
    }
    start += table.source.size;
  }
}
