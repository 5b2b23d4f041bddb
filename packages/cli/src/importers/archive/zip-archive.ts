import { pipeline } from 'node:stream';
import { isNativeError } from 'node:util/types';
import { crc32, createInflateRaw } from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { UnusableFile } from '../ingest/importer.ts';
import type { ByteSource } from '../tables/lines.ts';

/** Size of a local file header without name and extra field (APPNOTE 4.3.7). */
const LOCAL_HEADER_BYTES = 30;

/**
 * Throws UnusableFile if two entries share bytes, or one ends after the end of the archive. If entries share bytes, the unpacked size can grow
 * quadratically; no packing program creates such archives. An extent omits the name and extra field of the local header, whose lengths are not
 * in the central directory, so it is slightly too short. Even so, the packed sizes of all entries sum to at most the archive size, so that the
 * limit on growth refers to existing bytes.
 */
function checkExtents(extents: readonly { start: number; end: number }[], archiveBytes: number): void {
  let end = 0;
  for (const extent of extents.toSorted((one, other) => one.start - other.start)) {
    if (extent.start < end) throw new UnusableFile('The zip archive contains overlapping files');
    end = extent.end;
  }
  if (end > archiveBytes) throw new UnusableFile('The zip archive is damaged or cut off');
}

/** Limits of an archive. An Apple Health export has some thousand routes and a few gigabytes. */
export interface ArchiveLimits {
  readonly entries: number;
  /** Length of an entry's name in UTF-8 bytes, including its path. */
  readonly nameBytes: number;
  /** Unpacked size of all entries that are read. */
  readonly totalBytes: number;
  /**
   * Maximum ratio of unpacked to packed size, for each entry that is read and for all together. Applies above `smallBytes`. Real
   * exports reach 40.
   */
  readonly ratio: number;
  /** Unpacked bytes. Importing this amount takes about a second with any content. */
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

/** Opens an archive, which the caller closes. Throws UnusableFile if it is not an archive or is damaged. */
export async function openArchive(path: string): Promise<ZipFile> {
  try {
    return await openPromise(path, { autoClose: false, lazyEntries: true });
  } catch (error) {
    throw damaged(error);
  }
}

/**
 * The files in the central directory of an archive, without folders. Throws UnusableFile for unreadable archives and for features
 * of hostile ones: too many entries, names that are too long or escape the archive, symbolic links, entries that share bytes.
 * Shared bytes are detected at the end of the list.
 */
export async function* listFiles(archive: ZipFile, limits: ArchiveLimits): AsyncGenerator<Entry> {
  if (archive.entryCount > limits.entries) {
    throw new UnusableFile(`The zip archive has more than ${limits.entries.toLocaleString('en')} entries`);
  }
  const extents: { start: number; end: number }[] = [];
  try {
    for await (const entry of archive.eachEntry()) {
      const start = entry.relativeOffsetOfLocalHeader;
      extents.push({ start, end: start + LOCAL_HEADER_BYTES + entry.compressedSize });
      checkName(entry, limits);
      if (entry.fileName.endsWith('/')) continue;
      checkLink(entry);
      yield entry;
    }
    checkExtents(extents, archive.fileSize);
  } catch (error) {
    throw error instanceof UnusableFile ? error : damaged(error);
  }
}

/** Throws UnusableFile unless these files are readable: unique names, no encryption, sizes within the limits. */
export function checkReadable(entries: readonly Entry[], limits: ArchiveLimits): void {
  const names = new Set(entries.map(({ fileName }) => fileName));
  if (names.size < entries.length) throw new UnusableFile('The zip archive contains a file twice');
  for (const entry of entries) checkEntry(entry, limits);
  checkTotal(entries, limits);
}

/** Whether a file is irrelevant: hidden, or written by the macOS Finder. */
export function isHidden(name: string): boolean {
  return /(^|\/)\.|^__macosx\//i.test(name);
}

function checkLink({ externalFileAttributes }: Entry): void {
  if (((externalFileAttributes >>> 16) & FILE_TYPE) === SYMBOLIC_LINK) {
    throw new UnusableFile('The zip archive contains a symbolic link');
  }
}

function checkName({ fileName, fileNameLength }: Entry, { nameBytes }: ArchiveLimits): void {
  // An extra field may replace the name by a longer one.
  if (Math.max(fileNameLength, Buffer.byteLength(fileName)) > nameBytes) {
    throw new UnusableFile(
      `The zip archive contains a name longer than ${nameBytes.toLocaleString('en')} bytes`,
    );
  }
}

function checkEntry(entry: Entry, limits: ArchiveLimits): void {
  if (entry.isEncrypted()) throw new UnusableFile('The zip archive is encrypted');
  if (!entry.canDecodeFileData())
    throw new UnusableFile('The zip archive uses an unsupported compression method');
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

/** The reader's messages may quote the archive, so only their topic is passed on. */
function damaged(error: unknown): unknown {
  if (!isNativeError(error) || ('code' in error && !isZlibCode(error.code))) return error;
  const { message } = error;
  if (/relative path|absolute path|invalid characters in fileName/i.test(message)) {
    return new UnusableFile('The zip archive contains a name that points outside it');
  }
  if (/encrypt/i.test(message)) return new UnusableFile('The zip archive is encrypted');
  if (/multi-disk/i.test(message)) return new UnusableFile('The zip archive is only one part of several');
  return new UnusableFile('The zip archive is damaged or cut off');
}

function isZlibCode(code: unknown): boolean {
  return typeof code === 'string' && code.startsWith('Z_');
}

// The reader's own inflater yields 16 KB at a time, which costs more than inflating.
const CHUNK_BYTES = 64 * 1024;
const STORED = 0;

/** An entry as a source, under its name in the archive. */
export function toEntrySource(archive: ZipFile, entry: Entry): ByteSource {
  return { name: entry.fileName, size: entry.uncompressedSize, read: () => readEntry(archive, entry) };
}

/**
 * The content of an entry. Throws UnusableFile as soon as it exceeds the stated size, and at the end if it is shorter or the
 * checksum differs. A caller that stops early gets no such check.
 */
async function* readEntry(archive: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
  let [bytes, checksum] = [0, 0];
  try {
    for await (const chunk of await openContent(archive, entry)) {
      bytes += chunk.length;
      if (bytes > entry.uncompressedSize) break;
      checksum = crc32(chunk, checksum);
      yield chunk;
    }
  } catch (error) {
    throw error instanceof UnusableFile ? error : damaged(error);
  }
  if (bytes !== entry.uncompressedSize)
    throw new UnusableFile('A file of the zip archive has a different size than stated');
  if (checksum !== entry.crc32)
    throw new UnusableFile('A file of the zip archive is damaged: its checksum is wrong');
}

async function openContent(archive: ZipFile, entry: Entry): Promise<AsyncIterable<Buffer>> {
  const packed = await archive.openReadStreamPromise(entry, { decodeFileData: false });
  if (entry.compressionMethod === STORED) return packed;
  const inflate = createInflateRaw({ chunkSize: CHUNK_BYTES });
  // Errors of both streams reach the reader of the second.
  return pipeline(packed, inflate, () => undefined);
}
