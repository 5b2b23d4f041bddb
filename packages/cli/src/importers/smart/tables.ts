import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Entry, ZipFile } from 'yauzl';
import {
  ARCHIVE_LIMITS,
  checkReadable,
  isHidden,
  listFiles,
  openArchive,
  toEntrySource,
} from '../archive/zip-archive.ts';
import { UnusableFile } from '../ingest/importer.ts';
import { type ByteSource, openFileSource } from '../tables/lines.ts';
import { type Header, type Row, readHeader, readRows } from '../tables/rows.ts';

interface Table {
  /** A table without one of these columns is not of this kind. */
  readonly required: readonly string[];
  readonly optional: readonly string[];
}

/** The tables in reading order, with the columns that are used. Other columns are ignored. */
export const TABLES = {
  patients: { required: ['PID'], optional: ['fname', 'initial', 'lname', 'gender', 'dob'] },
  problems: { required: ['PID', 'NAME', 'START_DATE'], optional: ['ID', 'SNOMED'] },
  allergies: {
    required: ['PID', 'STATEMENT', 'ALLERGEN'],
    optional: ['ID', 'START_DATE', 'REACTION', 'SEVERITY'],
  },
  meds: {
    required: ['PID', 'Name'],
    optional: [
      'ID',
      'RxNorm',
      'SIG',
      'Q_TO_TAKE_VALUE',
      'Q_TO_TAKE_UNIT',
      'FREQUENCY_VALUE',
      'FREQUENCY_UNIT',
    ],
  },
  refills: { required: ['PID', 'DATE', 'RXN'], optional: ['ID', 'DAYS', 'Q'] },
  vitals: {
    required: ['PID', 'TIMESTAMP'],
    optional: [
      'ID',
      'HEART_RATE',
      'RESPIRATORY_RATE',
      'TEMPERATURE',
      'WEIGHT',
      'HEIGHT',
      'BMI',
      'SYSTOLIC',
      'DIASTOLIC',
      'OXYGEN_SATURATION',
      'HEAD_CIRCUMFERENCE',
    ],
  },
} as const satisfies Record<string, Table>;

export type TableName = keyof typeof TABLES;
export type ColumnOf<Name extends TableName> = (typeof TABLES)[Name]['required' | 'optional'][number];

/** The trimmed text in a column; empty if the table has none. */
export type Cells<Name extends TableName> = (column: ColumnOf<Name>) => string;

const TABLE_NAMES = Object.keys(TABLES) as TableName[];

/** The cells of a row of any table. */
export type AnyCells = (column: ColumnOf<TableName>) => string;

/** The files of the tables, in the order of TABLES; at least one. */
export interface TableSources extends Disposable {
  readonly tables: ReadonlyMap<TableName, ByteSource>;
  /** The local files that contain them. */
  readonly paths: readonly string[];
}

/** Finds the tables in a directory or zip archive. Throws UnusableFile if there are none. */
export async function openTableSources(path: string): Promise<TableSources> {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() === true) return openDirectory(path);
  if (stats !== undefined && !path.toLowerCase().endsWith('.zip')) {
    throw new UnusableFile(
      'The tables are imported together: name the directory or zip archive that holds them',
    );
  }
  if (stats === undefined) throw new UnusableFile('There is no such directory or zip archive');
  return openZip(path);
}

function openDirectory(directory: string): TableSources {
  const present = new Set(readdirSync(directory));
  const names = TABLE_NAMES.filter((name) => present.has(fileOf(name)));
  const paths = names.map((name) => join(directory, fileOf(name)));
  const tables = new Map(names.map((name, index) => [name, openFileSource(paths[index] ?? '')]));
  checkFound(tables);
  return { tables, paths, [Symbol.dispose]: () => undefined };
}

async function openZip(path: string): Promise<TableSources> {
  const archive = await openArchive(path);
  try {
    const entries = await findEntries(archive);
    checkReadable([...entries.values()], ARCHIVE_LIMITS);
    const tables = new Map(Array.from(entries, ([name, entry]) => [name, toSource(archive, entry)] as const));
    checkFound(tables);
    return { tables, paths: [path], [Symbol.dispose]: () => archive.close() };
  } catch (error) {
    archive.close();
    throw error;
  }
}

/** The tables may be in a folder of the archive, but in one folder only. */
async function findEntries(archive: ZipFile): Promise<ReadonlyMap<TableName, Entry>> {
  const entries = new Map<TableName, Entry>();
  for await (const entry of listFiles(archive, ARCHIVE_LIMITS)) {
    const name = isHidden(entry.fileName) ? undefined : tableOf(entry.fileName);
    if (name === undefined) continue;
    if (entries.has(name)) throw new UnusableFile(`The zip archive holds ${fileOf(name)} twice`);
    entries.set(name, entry);
  }
  return new Map(
    TABLE_NAMES.flatMap((name) => {
      const entry = entries.get(name);
      return entry === undefined ? [] : [[name, entry] as const];
    }),
  );
}

function toSource(archive: ZipFile, entry: Entry): ByteSource {
  return { ...toEntrySource(archive, entry), name: basename(entry.fileName) };
}

function checkFound(tables: ReadonlyMap<TableName, ByteSource>): void {
  if (tables.size === 0)
    throw new UnusableFile(`None of the tables is there: ${TABLE_NAMES.map(fileOf).join(', ')}`);
}

function tableOf(path: string): TableName | undefined {
  return TABLE_NAMES.find((name) => basename(path) === fileOf(name));
}

function fileOf(name: TableName): string {
  return `${name}.txt`;
}

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
