import { isNativeError } from 'node:util/types';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { UnusableFile } from '../ingest/unusable-file.ts';
import { EntryExtents } from './entry-extents.ts';

/** What an archive may hold; an Apple Health export has some thousand routes and a few gigabytes. */
export interface ArchiveLimits {
  readonly entries: number;
  /** UTF-8 bytes of the name of one entry, path included. */
  readonly nameBytes: number;
  /** Unpacked bytes of all entries that are read. */
  readonly totalBytes: number;
  /**
   * How many times larger than packed the entries that are read may be, each of them and all together. It applies above
   * `smallBytes`. Real exports reach 40.
   */
  readonly ratio: number;
  /** Unpacked bytes. Importing so much takes about a second, whatever it is. */
  readonly smallBytes: number;
}

export const ARCHIVE_LIMITS: ArchiveLimits = {
  entries: 100_000,
  nameBytes: 1024,
  totalBytes: 32 * 1024 ** 3,
  ratio: 100,
  smallBytes: 4 * 1024 ** 2,
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
 * too many entries, names that are too long or lead out of it, symbolic links, entries that share bytes; and for what cannot be
 * read. Shared bytes are found at the end of the list.
 */
export async function* listFiles(archive: ZipFile, limits: ArchiveLimits): AsyncGenerator<Entry> {
  if (archive.entryCount > limits.entries) {
    throw new UnusableFile(`The zip archive has more than ${limits.entries.toLocaleString('en')} entries`);
  }
  const extents = new EntryExtents();
  try {
    for await (const entry of archive.eachEntry()) {
      extents.add(entry);
      checkName(entry, limits);
      if (entry.fileName.endsWith('/')) continue;
      checkLink(entry);
      yield entry;
    }
    extents.check(archive.fileSize);
  } catch (error) {
    throw error instanceof UnusableFile ? error : damaged(error);
  }
}

/** Throws UnusableFile unless these files can be read: each name once, not encrypted, sizes within the limits. */
export function checkReadable(entries: readonly Entry[], limits: ArchiveLimits): void {
  const names = new Set(entries.map(({ fileName }) => fileName));
  if (names.size < entries.length) throw new UnusableFile('The zip archive holds a file twice');
  for (const entry of entries) checkEntry(entry, limits);
  checkTotal(entries, limits);
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

function checkName({ fileName, fileNameLength }: Entry, { nameBytes }: ArchiveLimits): void {
  // An extra field may replace the name by one of another length.
  if (Math.max(fileNameLength, Buffer.byteLength(fileName)) > nameBytes) {
    throw new UnusableFile(
      `The zip archive holds a name longer than ${nameBytes.toLocaleString('en')} bytes`,
    );
  }
}

function checkEntry(entry: Entry, limits: ArchiveLimits): void {
  if (entry.isEncrypted()) throw new UnusableFile('The zip archive is encrypted');
  if (!entry.canDecodeFileData())
    throw new UnusableFile('The zip archive is packed in a way that is not read here');
  checkGrowth('A file of the zip archive', entry, limits);
}

function checkTotal(entries: readonly Entry[], limits: ArchiveLimits): void {
  const sum = (sizeOf: (entry: Entry) => number) =>
    entries.reduce((bytes, entry) => bytes + sizeOf(entry), 0);
  const uncompressedSize = sum((entry) => entry.uncompressedSize);
  if (uncompressedSize > limits.totalBytes) {
    const megabytes = Math.floor(limits.totalBytes / 1024 ** 2).toLocaleString('en');
    throw new UnusableFile(`The zip archive is larger than ${megabytes} MB when it is unpacked`);
  }
  checkGrowth(
    'The zip archive',
    { uncompressedSize, compressedSize: sum((entry) => entry.compressedSize) },
    limits,
  );
}

type Sizes = Pick<Entry, 'uncompressedSize' | 'compressedSize'>;

function checkGrowth(
  what: string,
  { uncompressedSize, compressedSize }: Sizes,
  { ratio, smallBytes }: ArchiveLimits,
): void {
  if (uncompressedSize > smallBytes && uncompressedSize > compressedSize * ratio) {
    throw new UnusableFile(`${what} grows more than ${ratio} times when it is unpacked`);
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
