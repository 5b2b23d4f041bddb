import { pipeline } from 'node:stream';
import { crc32, createInflateRaw } from 'node:zlib';
import type { Entry, ZipFile } from 'yauzl';
import { UnusableFile } from '../ingest/unusable-file.ts';
import { damaged } from './zip-archive.ts';

// The reader's own inflater yields 16 KB at a time, which costs more than inflating.
const CHUNK_BYTES = 64 * 1024;
const STORED = 0;

/**
 * The content of an entry. Throws UnusableFile as soon as it exceeds the stated size, and at the end if it is shorter or the
 * checksum differs. A caller that stops early gets no such check.
 */
export async function* readEntry(archive: ZipFile, entry: Entry): AsyncGenerator<Buffer> {
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
