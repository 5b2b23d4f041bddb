import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { UnusableFile } from '../ingest/unusable-file.ts';

/** Bytes that can be read repeatedly from the start: a file, or a file in an archive. */
export interface ByteSource {
  /** The name of the file without its directory. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** The content in chunks. Rejects with UnusableFile. */
  read(): AsyncIterable<Buffer>;
}

// Objects created from a chunk live until the next one. Larger chunks cost memory and save no time.
const CHUNK_BYTES = 64 * 1024;

/** Opens a file as a source. Throws UnusableFile if it does not exist. */
export function openFileSource(path: string): ByteSource {
  const name = basename(path);
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined) throw new UnusableFile(`There is no file ${name}`);
  if (!stats.isFile()) throw new UnusableFile(`${name} is not a file`);
  return { name, size: stats.size, read: () => readFile(path, name) };
}

async function* readFile(path: string, name: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>;
  } catch (error) {
    const isDenied = error instanceof Error && 'code' in error && error.code === 'EACCES';
    throw isDenied ? new UnusableFile(`${name} may not be read`) : error;
  }
}
