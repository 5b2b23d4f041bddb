import { isNativeError } from 'node:util/types';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { UnusableFile } from '../ingest/unusable-file.ts';

/** Files of an archive that are never read. */
export type UnreadKind = 'cda' | 'route' | 'clinical' | 'other';

/** The entries of an archive that may be read, and how many of each kind never are. */
export interface ArchiveEntries {
  readonly exports: readonly Entry[];
  readonly ecgs: readonly Entry[];
  readonly unread: ReadonlyMap<UnreadKind, number>;
}

/** What an archive may hold; an export has some thousand routes and a few gigabytes. */
export interface ArchiveLimits {
  readonly entries: number;
  /** Bytes of one entry when unpacked. */
  readonly entryBytes: number;
  /** How many times larger than packed an entry may be, once it is larger than `smallBytes`. Real exports reach 40. */
  readonly ratio: number;
  readonly smallBytes: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  entries: 100_000,
  entryBytes: 32 * 1024 ** 3,
  ratio: 200,
  smallBytes: 16 * 1024 ** 2,
};

const MAX_EXPORTS = 20;
const FILE_TYPE = 0o170000;
const SYMBOLIC_LINK = 0o120000;

/** Opens an archive; the caller closes it. Throws UnusableFile when it is none or is damaged. */
export async function openArchive(path: string): Promise<ZipFile> {
  try {
    return await openPromise(path, { autoClose: false, lazyEntries: true });
  } catch (error) {
    throw damaged(error);
  }
}

/**
 * Lists an archive by its central directory. Throws UnusableFile for what only a hostile archive has: names that lead out of
 * it, symbolic links, the same name twice, sizes beyond the limits; and for what cannot be read.
 */
export async function listEntries(archive: ZipFile, limits: ArchiveLimits): Promise<ArchiveEntries> {
  if (archive.entryCount > limits.entries) {
    throw new UnusableFile(`The zip archive has more than ${limits.entries.toLocaleString('en')} entries`);
  }
  const [exports, ecgs, unread] = [[] as Entry[], [] as Entry[], new Map<UnreadKind, number>()];
  try {
    for await (const entry of archive.eachEntry()) {
      if (entry.fileName.endsWith('/')) continue;
      checkLink(entry);
      const kind = kindOf(entry.fileName);
      if (kind === 'export') exports.push(entry);
      else if (kind === 'ecg') ecgs.push(entry);
      else unread.set(kind, (unread.get(kind) ?? 0) + 1);
    }
  } catch (error) {
    throw error instanceof UnusableFile ? error : damaged(error);
  }
  if (exports.length > MAX_EXPORTS)
    throw new UnusableFile('The zip archive has too many XML files to be an export');
  checkTwice([...exports, ...ecgs]);
  for (const entry of [...exports, ...ecgs]) checkReadable(entry, limits);
  return { exports, ecgs, unread };
}

/** The phone names the XML in its language (`export.xml`, `exportar.xml`, …); it stands in the only folder, or in none. */
function kindOf(name: string): UnreadKind | 'export' | 'ecg' {
  const path = name.toLowerCase();
  if (/(^|\/)\.|^__macosx\//.test(path)) return 'other';
  if (/_cda\.xml$/.test(path)) return 'cda';
  if (/^([^/]+\/)?[^/]+\.xml$/.test(path)) return 'export';
  if (path.endsWith('.csv')) return 'ecg';
  if (path.endsWith('.gpx')) return 'route';
  return path.includes('clinical') && path.endsWith('.json') ? 'clinical' : 'other';
}

function checkLink({ externalFileAttributes }: Entry): void {
  if (((externalFileAttributes >>> 16) & FILE_TYPE) === SYMBOLIC_LINK) {
    throw new UnusableFile('The zip archive holds a symbolic link');
  }
}

function checkTwice(entries: readonly Entry[]): void {
  const names = new Set(entries.map(({ fileName }) => fileName));
  if (names.size < entries.length) throw new UnusableFile('The zip archive holds a file twice');
}

function checkReadable(entry: Entry, { entryBytes, ratio, smallBytes }: ArchiveLimits): void {
  if (entry.isEncrypted()) throw new UnusableFile('The zip archive is encrypted');
  if (!entry.canDecodeFileData())
    throw new UnusableFile('The zip archive is packed in a way that is not read here');
  const { uncompressedSize, compressedSize } = entry;
  if (uncompressedSize > entryBytes) {
    throw new UnusableFile(
      `A file of the zip archive is larger than ${Math.floor(entryBytes / 1024 ** 2)} MB`,
    );
  }
  if (uncompressedSize > smallBytes && uncompressedSize > compressedSize * ratio) {
    throw new UnusableFile(`A file of the zip archive grows more than ${ratio} times when it is unpacked`);
  }
}

/** The reader's messages may quote the archive; only what they are about is passed on. */
export function damaged(error: unknown): unknown {
  if (!isNativeError(error) || ('code' in error && !isZlibCode(error.code))) return error;
  const { message } = error;
  if (/relative path|absolute path|invalid characters in fileName/i.test(message)) {
    return new UnusableFile('The zip archive holds a name that leads out of it');
  }
  if (/encrypt/i.test(message)) return new UnusableFile('The zip archive is encrypted');
  if (/multi-disk/i.test(message)) return new UnusableFile('The zip archive is only one part of several');
  return new UnusableFile('The zip archive is damaged or cut off');
}

function isZlibCode(code: unknown): boolean {
  return typeof code === 'string' && code.startsWith('Z_');
}
