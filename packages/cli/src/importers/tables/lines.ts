import { isUtf8 } from 'node:buffer';
import { createReadStream, statSync } from 'node:fs';
import { basename } from 'node:path';
import { UnusableFile } from '../ingest/importer.ts';

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

/** The first bytes of a source, at least `bytes` unless it is shorter. */
export async function readHead(source: ByteSource, bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of source.read()) {
    chunks.push(chunk);
    length += chunk.length;
    if (length >= bytes) break;
  }
  return Buffer.concat(chunks);
}

/** One line of a text file. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Position after the line and its line break. */
  readonly end: number;
  /** Without the line break; empty if the line cannot be used. */
  readonly text: string;
  /** Why the line cannot be used; empty if it can. */
  readonly problem: string;
}

export interface LineReaderOptions {
  /** Maximum line length in bytes. Longer lines are skipped without holding them. */
  readonly maxLineBytes: number;
  /** Lines that end at or before this byte are counted but not returned. */
  readonly from?: number;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK = /^\ufeff/;
const NOTHING = Buffer.alloc(0);

/**
 * Reads the lines of a UTF-8 text in groups. Lines end with LF or CRLF; the last line may have no end. Memory depends on the
 * maximum line length, not on the file. Throws UnusableFile if the first bytes show that the file is not UTF-8 text.
 */
export async function* readLines(source: ByteSource, options: LineReaderOptions): AsyncGenerator<Line[]> {
  const splitter = new LineSplitter(options, source.name);
  for await (const chunk of source.read()) {
    const lines = splitter.write(chunk);
    if (lines.length > 0) yield lines;
  }
  const last = splitter.end();
  if (last.length > 0) yield last;
}

class LineSplitter {
  readonly #maxBytes: number;
  readonly #from: number;
  readonly #name: string;
  #lines: Line[] = [];
  #count = 0;
  /** Position of the first byte that is not yet part of a line. */
  #start = 0;
  /** The beginning of an incomplete line; dropped if it exceeds the limit. */
  #pending: Buffer = NOTHING;
  #pendingBytes = 0;

  constructor({ maxLineBytes, from = 0 }: LineReaderOptions, name: string) {
    this.#maxBytes = maxLineBytes;
    this.#from = from;
    this.#name = name;
  }

  write(chunk: Buffer): Line[] {
    let begin = 0;
    if (this.#start === 0 && this.#pendingBytes === 0) refuseNoText(chunk, this.#name);
    for (let end = chunk.indexOf(LINE_FEED, begin); end >= 0; end = chunk.indexOf(LINE_FEED, begin)) {
      this.#complete(chunk.subarray(begin, end), 1);
      begin = end + 1;
    }
    this.#hold(chunk.subarray(begin));
    return this.#taken();
  }

  end(): Line[] {
    if (this.#pendingBytes > 0) this.#complete(NOTHING, 0);
    return this.#taken();
  }

  #taken(): Line[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  #hold(rest: Buffer): void {
    this.#pendingBytes += rest.length;
    this.#pending =
      this.#pendingBytes > this.#maxBytes
        ? NOTHING
        : Buffer.concat([this.#pending, rest], this.#pendingBytes);
  }

  #complete(rest: Buffer, endBytes: number): void {
    const length = this.#pendingBytes + rest.length;
    const bytes = this.#pendingBytes === 0 ? rest : Buffer.concat([this.#pending, rest]);
    this.#pending = NOTHING;
    this.#pendingBytes = 0;
    this.#count += 1;
    this.#start += length + endBytes;
    if (this.#start > this.#from) this.#lines.push(this.#toLine(bytes, length));
  }

  #toLine(bytes: Buffer, length: number): Line {
    const [number, end] = [this.#count, this.#start];
    if (length > this.#maxBytes) {
      return { number, end, text: '', problem: `line is longer than ${inWords(this.#maxBytes)}` };
    }
    if (bytes.includes(0)) return { number, end, text: '', problem: 'line holds a NUL byte' };
    if (!isUtf8(bytes)) return { number, end, text: '', problem: 'line is not valid UTF-8' };
    const hasReturn = bytes[bytes.length - 1] === CARRIAGE_RETURN;
    const text = bytes.toString('utf8', 0, bytes.length - (hasReturn ? 1 : 0));
    return { number, end, text: number === 1 ? text.replace(BYTE_ORDER_MARK, '') : text, problem: '' };
  }
}

function inWords(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes / 1024} KB` : `${bytes / 1024 / 1024} MB`;
}

/** Throws UnusableFile if the first bytes of a file show that it is packed or not UTF-8. */
export function refuseNoText(chunk: Buffer, name: string): void {
  const [first, second] = chunk;
  if (first === 0x1f && second === 0x8b)
    throw new UnusableFile(`${name} is compressed with gzip: unpack it first`);
  if (first === 0x50 && second === 0x4b && chunk[2] === 3) {
    throw new UnusableFile(`${name} is a zip archive or a spreadsheet, not a text file`);
  }
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    throw new UnusableFile(`${name} is UTF-16: save it as UTF-8`);
  }
}
