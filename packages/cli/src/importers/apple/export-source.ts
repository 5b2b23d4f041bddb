import type { Entry, ZipFile } from 'yauzl';
import {
  ARCHIVE_LIMITS,
  type ArchiveLimits,
  checkReadable,
  isHidden,
  listFiles,
  openArchive,
  toEntrySource,
} from '../archive/zip-archive.ts';
import { UnusableFile } from '../ingest/importer.ts';
import { type ByteSource, openFileSource, readHead } from '../tables/lines.ts';

/** Kinds of archive files that are never read. */
export type UnreadKind = 'cda' | 'route' | 'other';

/** The readable entries of an archive, and the number of unread ones by kind. */
interface ArchiveEntries {
  readonly exports: readonly Entry[];
  readonly ecgs: readonly Entry[];
  readonly clinical: readonly Entry[];
  readonly unread: ReadonlyMap<UnreadKind, number>;
}

const MAX_EXPORTS = 20;

/** Lists an archive. Throws the UnusableFile errors of `listFiles` and `checkReadable`. */
async function listEntries(archive: ZipFile, limits: ArchiveLimits): Promise<ArchiveEntries> {
  const [exports, ecgs, clinical]: [Entry[], Entry[], Entry[]] = [[], [], []];
  const unread = new Map<UnreadKind, number>();
  for await (const entry of listFiles(archive, limits)) {
    const kind = kindOf(entry.fileName);
    if (kind === 'export') exports.push(entry);
    else if (kind === 'ecg') ecgs.push(entry);
    else if (kind === 'clinical') clinical.push(entry);
    else unread.set(kind, (unread.get(kind) ?? 0) + 1);
  }
  if (exports.length > MAX_EXPORTS)
    throw new UnusableFile('The zip archive has too many XML files to be an export');
  checkReadable([...exports, ...ecgs, ...clinical], limits);
  return { exports, ecgs, clinical, unread };
}

/** The phone names the XML in its language (`export.xml`, `exportar.xml`, …), in at most two folders. */
function kindOf(name: string): UnreadKind | 'export' | 'ecg' | 'clinical' {
  const path = name.toLowerCase();
  if (isHidden(path)) return 'other';
  if (/_cda\.xml$/.test(path)) return 'cda';
  if (/^([^/]+\/){0,2}[^/]+\.xml$/.test(path)) return 'export';
  if (path.endsWith('.csv')) return 'ecg';
  if (path.endsWith('.json')) return 'clinical';
  return path.endsWith('.gpx') ? 'route' : 'other';
}

/** The report's name of archive files that are never read, and the reason. */
export const UNREAD_FILES: Readonly<Record<UnreadKind, { readonly type: string; readonly reason: string }>> =
  {
    cda: { type: 'export_cda.xml', reason: 'never read: repeats records, with name and address' },
    route: { type: 'workout route', reason: 'never read: contains locations' },
    other: { type: 'file', reason: 'holds no records' },
  };

/** Shortens an archive file's name for a report to its end, without control characters that affect a terminal. */
export function toOrigin(name: string): string {
  return name.replaceAll(/[^\w./-]/g, '?').slice(-100);
}

/** The readable parts of an export, packed or not. */
export interface ExportSource extends Disposable {
  /** The XML file with the records. */
  readonly xml: ByteSource;
  /** ECG recordings, in the order of the archive. */
  readonly ecgs: readonly ByteSource[];
  /** FHIR resources from clinics, one a file, in the order of the archive. */
  readonly clinical: readonly ByteSource[];
  /** Number of archive files that are never read, by kind. */
  readonly unread: ReadonlyMap<UnreadKind, number>;
}

const ROOT = /<HealthData[\s>]/;
const HEAD_BYTES = 512 * 1024;

/** Opens `export.zip` or `export.xml`. Throws UnusableFile if the file is neither. */
export async function openExport(
  path: string,
  limits: ArchiveLimits = ARCHIVE_LIMITS,
): Promise<ExportSource> {
  const file = openFileSource(path);
  const start = (await readHead(file, 2)).subarray(0, 2).toString('latin1');
  if (start === '') throw new UnusableFile('The file is empty');
  if (start === '\u001f\u008b') throw new UnusableFile('The file is compressed with gzip: unpack it first');
  if (start !== 'PK') {
    return { xml: file, ecgs: [], clinical: [], unread: new Map(), [Symbol.dispose]: () => undefined };
  }
  const archive = await openArchive(path);
  try {
    const { exports, ecgs, clinical, unread } = await listEntries(archive, limits);
    const toSource = (entry: Entry) => toEntrySource(archive, entry);
    const xml = await chooseExport(exports.map(toSource));
    return {
      xml,
      ecgs: ecgs.map(toSource),
      clinical: clinical.map(toSource),
      unread,
      [Symbol.dispose]: () => archive.close(),
    };
  } catch (error) {
    archive.close();
    throw error;
  }
}

/** The name depends on the phone's language, so among several files the root element decides. */
async function chooseExport(sources: readonly ByteSource[]): Promise<ByteSource> {
  const [only, ...others] = sources;
  if (only === undefined) throw new UnusableFile('The zip archive contains no export.xml');
  if (others.length === 0) return only;
  const found: ByteSource[] = [];
  for (const source of sources) {
    if (ROOT.test((await readHead(source, HEAD_BYTES)).toString('latin1'))) found.push(source);
  }
  const [chosen, second] = found;
  if (chosen === undefined) throw new UnusableFile('The zip archive contains no export.xml');
  if (second !== undefined) throw new UnusableFile('The zip archive contains more than one export');
  return chosen;
}
