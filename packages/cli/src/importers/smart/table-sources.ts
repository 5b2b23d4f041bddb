import { readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Entry, ZipFile } from 'yauzl';
import { readEntry } from '../archive/entry-stream.ts';
import { ARCHIVE_LIMITS, checkReadable, isHidden, listFiles, openArchive } from '../archive/zip-archive.ts';
import { UnusableFile } from '../ingest/unusable-file.ts';
import { type ByteSource, openFileSource } from '../tables/byte-source.ts';
import { TABLE_NAMES, type TableName } from './tables.ts';

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
  return {
    name: basename(entry.fileName),
    size: entry.uncompressedSize,
    read: () => readEntry(archive, entry),
  };
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
