import { createReadStream, statSync } from 'node:fs';
import { type ParsedTokenInfo, Tokenizer } from '@streamparser/json';
import {
  type ImportRequest,
  type ImportSink,
  type ImportSource,
  takeFrom,
  UnusableFile,
} from '../ingest/importer.ts';
import { JsonAssembler } from './json-assembler.ts';
import { isObject, type JsonObject, memberOf } from './json-values.ts';
import { choosePatient, idOf, References } from './references.ts';
import { ResourceImport } from './resources.ts';

/** One element of `Bundle.entry`. */
export interface BundleEntry {
  /** Position in `Bundle.entry`, from 0. */
  readonly index: number;
  /** Byte after the entry. */
  readonly end: number;
  readonly fullUrl: string;
  /** Null if the entry cannot be used; `problem` then gives the reason. */
  readonly resource: JsonObject | null;
  readonly problem: string;
}

export interface BundleReaderOptions {
  /** Called after each chunk of the file. */
  readonly onBytes?: (bytesRead: number) => void;
  /** Size of a chunk. */
  readonly chunkBytes?: number;
  /** Maximum size of an entry. A larger one is refused and the rest is read. */
  readonly maxEntryBytes?: number;
}

const CHUNK_BYTES = 256 * 1024;
const MAX_ENTRY_BYTES = 8 * 1024 * 1024;
// The tokenizer holds one string at a time.
const MAX_TOKEN_BYTES = 64 * 1024 * 1024;

/**
 * Reads the entries of an R4 bundle one after the other. Memory depends on the largest entry, not on the file. Throws UnusableFile,
 * with the byte offset if known, if the file is unreadable, not JSON, not a bundle, or truncated; the entries before that point
 * have been yielded by then.
 */
export async function* readBundle(
  path: string,
  options: BundleReaderOptions = {},
): AsyncGenerator<BundleEntry> {
  const { onBytes, chunkBytes = CHUNK_BYTES, maxEntryBytes = MAX_ENTRY_BYTES } = options;
  const parser = new BundleParser(maxEntryBytes);
  const file = createReadStream(path, { highWaterMark: chunkBytes });
  try {
    for await (const chunk of file as AsyncIterable<Buffer>) {
      yield* parser.write(chunk);
      onBytes?.(parser.bytes);
    }
  } catch (error) {
    throw error instanceof UnusableFile ? error : unreadable(error);
  }
  parser.end();
}

class BundleParser {
  /** Number of bytes read so far. */
  bytes = 0;
  readonly #tokenizer = new Tokenizer({ stringBufferSize: 64 * 1024, numberBufferSize: 64 * 1024 });
  readonly #assembler: JsonAssembler;
  #entries: BundleEntry[] = [];
  #count = 0;
  #resourceType: unknown;
  #lastToken = 0;

  constructor(maxEntryBytes: number) {
    this.#assembler = new JsonAssembler({
      list: 'entry',
      maxElementBytes: maxEntryBytes,
      onProperty: (name, value) => {
        if (name === 'resourceType') this.#setResourceType(value);
      },
      onElement: (value, tooLarge, offset) => {
        this.#entries.push(toEntry({ index: this.#count, end: offset + 1 }, value, tooLarge));
        this.#count += 1;
      },
    });
    this.#tokenizer.onToken = (token) => this.#acceptToken(token);
    this.#tokenizer.onError = (error) => {
      throw error instanceof UnusableFile ? error : notJson(error);
    };
  }

  write(chunk: Buffer): BundleEntry[] {
    if (this.bytes === 0) checkFirstBytes(chunk);
    this.#tokenizer.write(chunk);
    this.bytes += chunk.length;
    if (this.bytes - this.#lastToken > MAX_TOKEN_BYTES) {
      throw new UnusableFile(
        `A single text is larger than ${MAX_TOKEN_BYTES / 1024 / 1024} MB`,
        this.#lastToken,
      );
    }
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  end(): void {
    if (this.bytes === 0) throw new UnusableFile('The file is empty');
    if (!this.#assembler.isComplete) {
      throw new UnusableFile('The file ends in the middle of the bundle: it is cut off', this.bytes);
    }
    if (this.#resourceType !== 'Bundle') throw notABundle(this.#resourceType);
  }

  #acceptToken(token: ParsedTokenInfo): void {
    this.#lastToken = token.offset;
    if (this.#assembler.isComplete) {
      throw new UnusableFile('More follows after the end of the bundle', token.offset);
    }
    this.#assembler.accept(token);
  }

  #setResourceType(value: unknown): void {
    this.#resourceType = value;
    if (value !== 'Bundle') throw notABundle(value);
  }
}

function toEntry(place: Pick<BundleEntry, 'index' | 'end'>, value: unknown, tooLarge: boolean): BundleEntry {
  const unusable = (problem: string, fullUrl = ''): BundleEntry => ({
    ...place,
    fullUrl,
    resource: null,
    problem,
  });
  if (tooLarge) return unusable('entry is too large');
  if (!isObject(value)) return unusable('entry is not an object');
  const fullUrl = memberOf(value, 'fullUrl');
  const url = typeof fullUrl === 'string' ? fullUrl : '';
  const resource = memberOf(value, 'resource');
  if (!isObject(resource)) return unusable('entry has no resource', url);
  return { ...place, fullUrl: url, resource, problem: '' };
}

function checkFirstBytes(chunk: Buffer): void {
  if (chunk[0] === 0x1f && chunk[1] === 0x8b) {
    throw new UnusableFile('The file is compressed with gzip: unpack it first');
  }
  if (chunk[0] === 0x50 && chunk[1] === 0x4b)
    throw new UnusableFile('The file is a zip archive: unpack it first');
  if (chunk[0] === 0x3c) throw new UnusableFile('The file is XML; only the JSON form of FHIR is read');
}

function notABundle(resourceType: unknown): UnusableFile {
  const isName = typeof resourceType === 'string' && /^[A-Za-z]{1,64}$/.test(resourceType);
  return new UnusableFile(
    `The file is not a FHIR bundle${isName ? ` but the resource ${resourceType}; NDJSON has each resource in one line` : ''}`,
  );
}

function notJson(error: Error): UnusableFile {
  const position = /absolute position "(\d+)"/.exec(error.message)?.[1];
  return new UnusableFile('The file is not valid JSON', position === undefined ? null : Number(position));
}

function unreadable(error: unknown): unknown {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return new UnusableFile('There is no such file');
  if (code === 'EISDIR') return new UnusableFile('This is a directory');
  if (code === 'EACCES') return new UnusableFile('The file may not be read');
  return error;
}

const NAME_LENGTH = 100;

/**
 * Opens an R4 bundle. The file is read twice: first to check that it is complete and to learn its patient and references, then to
 * map and send its entries. Nothing of a damaged file is stored.
 */
export async function openBundle(
  file: string,
  { patient, onChecked }: Pick<ImportRequest, 'patient' | 'onChecked'>,
): Promise<ImportSource> {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  const references = new References();
  for await (const { fullUrl, resource } of readBundle(file, {
    onBytes: (bytes) => onChecked(bytes, size),
  })) {
    if (resource !== null) references.add(fullUrl, resource);
  }
  return toSource(file, size, references, choosePatient(references, patient, 'bundle'));
}

function toSource(file: string, size: number, references: References, patient: string | null): ImportSource {
  return {
    files: [file],
    size,
    describe: (index) => `entry[${index}]`,
    async read(sink, from, timeZone) {
      const resources = new ResourceImport({ references, patient, timeZone });
      await takeFrom(from, readBundle(file), sink, (entry, to) => takeEntry(entry, resources, to));
      resources.finish(sink);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

function takeEntry(
  { index, fullUrl, resource, problem }: BundleEntry,
  resources: ResourceImport,
  sink: ImportSink,
): void {
  if (resource === null) {
    sink.refused('entry', problem, index);
    return;
  }
  const name = idOf(fullUrl, resource);
  const origin = `entry[${index}]${name === '' ? '' : ` ${name.slice(0, NAME_LENGTH)}`}`;
  resources.take({ resource, fullUrl, origin }, sink);
}
