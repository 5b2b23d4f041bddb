import { isNativeError } from 'node:util/types';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { UnusableFile } from '../ingest/unusable-file.ts';

/** What an archive may hold; an Apple Health export has some thousand routes and a few gigabytes. */
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
 * The files of an archive by its central directory, without folders. Throws UnusableFile for what only a hostile archive has:
 * too many entries, names that lead out of it, symbolic links; and for what cannot be read.
 */
export async function* listFiles(archive: ZipFile, limits: ArchiveLimits): AsyncGenerator<Entry> {
  if (archive.entryCount > limits.entries) {
    throw new UnusableFile(`The zip archive has more than ${limits.entries.toLocaleString('en')} entries`);
  }
  try {
    for await (const entry of archive.eachEntry()) {
      if (entry.fileName.endsWith('/')) continue;
      checkLink(entry);
      yield entry;
    }
  } catch (error) {
    throw error instanceof UnusableFile ? error : damaged(error);
  }
}

/** Throws UnusableFile unless these files can be read: each name once, not encrypted, sizes within the limits. */
export function checkReadable(entries: readonly Entry[], limits: ArchiveLimits): void {
  const names = new Set(entries.map(({ fileName }) => fileName));
  if (names.size < entries.length) throw new UnusableFile('The zip archive holds a file twice');
  for (const entry of entries) checkEntry(entry, limits);
}

/** Whether a file only lies in the archive by the way: hidden, or written by the Finder. */
export function isHidden(name: string): boolean {
  return /(^|\/)\.|^__macosx\//i.test(name);
}

function checkLink({ externalFileAttributes }: Entry): void {
  if (((externalFileAttributes >>> 16) & FILE_TYPE) === SYMBOLIC_LINK) {
    throw new UnusableFile('The zip archive holds a symbolic link');
  }
}

function checkEntry(entry: Entry, { entryBytes, ratio, smallBytes }: ArchiveLimits): void {
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
