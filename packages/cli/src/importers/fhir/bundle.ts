import { JSONParser, type ParsedTokenInfo, TokenType } from '@streamparser/json';
import { type ImportRequest, type ImportSource, UnusableFile } from '../ingest/importer.ts';
import { type ByteSource, openFileSource, refuseNoText } from '../tables/lines.ts';
import { isObject, type JsonObject, memberOf } from './json-values.ts';
import { idOf } from './references.ts';
import { openResources, type PlacedItem } from './resources.ts';

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

/** A larger entry is refused and the rest is read. */
const MAX_ENTRY_BYTES = 8 * 1024 * 1024;
// The parser holds one entry, or one text between entries, at a time.
const MAX_HELD_BYTES = 64 * 1024 * 1024;
// FHIR resources nest about 20 levels deep. Deeper nesting is an attempt to exhaust memory.
const MAX_DEPTH = 100;
/** The entries are in a list of the bundle. */
const ENTRY_DEPTH = 2;

/**
 * Reads the entries of an R4 bundle one after the other. Memory depends on the largest entry, not on the file. Throws UnusableFile,
 * with the byte offset if known, if the file is unreadable, not JSON, not a bundle, or truncated; the entries before that point
 * have been yielded by then.
 */
export async function* readBundle(
  source: ByteSource,
  maxEntryBytes = MAX_ENTRY_BYTES,
): AsyncGenerator<BundleEntry> {
  const parser = new BundleParser(maxEntryBytes, source.name);
  for await (const chunk of source.read()) yield* parser.write(chunk);
  parser.end();
}

class BundleParser {
  /** Number of bytes read so far. */
  bytes = 0;
  // Values that no path selects, and entries that were reported, are dropped at once.
  readonly #parser = new JSONParser({
    paths: ['$.resourceType', '$.entry.*'],
    keepStack: false,
    stringBufferSize: 64 * 1024,
    numberBufferSize: 64 * 1024,
  });
  readonly #maxEntryBytes: number;
  readonly #name: string;
  #entries: BundleEntry[] = [];
  #count = 0;
  #resourceType: unknown;
  #depth = 0;
  /** Position of the last token, and of the last one outside of entries. */
  #token = 0;
  #outside = 0;

  constructor(maxEntryBytes: number, name: string) {
    this.#maxEntryBytes = maxEntryBytes;
    this.#name = name;
    this.#parser.onToken = (token) => this.#notice(token);
    this.#parser.onValue = ({ value, key, stack }) => {
      if (stack.length === 1) this.#setResourceType(value);
      else if (typeof key === 'number') this.#addEntry(value);
    };
    this.#parser.onError = (error) => {
      throw error instanceof UnusableFile ? error : notJson(error, this.#token);
    };
  }

  write(chunk: Buffer): BundleEntry[] {
    if (this.bytes === 0) this.#checkFirstBytes(chunk);
    const wasComplete = this.#parser.isEnded;
    this.#parser.write(chunk);
    this.bytes += chunk.length;
    if (!wasComplete && this.bytes - this.#outside > MAX_HELD_BYTES) {
      const size = `${MAX_HELD_BYTES / 1024 / 1024} MB`;
      throw new UnusableFile(`A single entry or text is larger than ${size}`, this.#outside);
    }
    const entries = this.#entries;
    this.#entries = [];
    return entries;
  }

  end(): void {
    if (this.bytes === 0) throw new UnusableFile('The file is empty');
    if (!this.#parser.isEnded) {
      throw new UnusableFile('The file ends in the middle of the bundle: it is cut off', this.bytes);
    }
    if (this.#resourceType !== 'Bundle') throw notABundle(this.#resourceType);
  }

  #checkFirstBytes(chunk: Buffer): void {
    refuseNoText(chunk, this.#name);
    if (chunk[0] === 0x3c) throw new UnusableFile(`${this.#name} is XML; only the JSON form of FHIR is read`);
  }

  #notice({ token, offset }: ParsedTokenInfo): void {
    this.#token = offset;
    if (this.#depth <= ENTRY_DEPTH) this.#outside = offset;
    if (token === TokenType.LEFT_BRACE || token === TokenType.LEFT_BRACKET) this.#depth += 1;
    else if (token === TokenType.RIGHT_BRACE || token === TokenType.RIGHT_BRACKET) this.#depth -= 1;
    if (this.#depth > MAX_DEPTH)
      throw new UnusableFile(`The file nests deeper than ${MAX_DEPTH} levels`, offset);
  }

  #addEntry(value: unknown): void {
    const tooLarge = this.#token - this.#outside > this.#maxEntryBytes;
    this.#entries.push(toEntry({ index: this.#count, end: this.#token + 1 }, value, tooLarge));
    this.#count += 1;
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

function notABundle(resourceType: unknown): UnusableFile {
  const isName = typeof resourceType === 'string' && /^[A-Za-z]{1,64}$/.test(resourceType);
  return new UnusableFile(
    `The file is not a FHIR bundle${isName ? ` but the resource ${resourceType}; NDJSON has each resource in one line` : ''}`,
  );
}

/** A character that is no JSON has its position in the message; a token that may not be there is the last one. */
function notJson(error: Error, token: number): UnusableFile {
  const position = /absolute position "(\d+)"/.exec(error.message)?.[1];
  return new UnusableFile('The file is not valid JSON', position === undefined ? token : Number(position));
}

/** Opens an R4 bundle. */
export function openBundle(
  file: string,
  request: Pick<ImportRequest, 'patient' | 'onChecked'>,
): Promise<ImportSource> {
  const source = openFileSource(file);
  const read = () => readItems(source);
  return openResources({
    ...request,
    input: 'bundle',
    item: 'entry',
    files: [file],
    size: source.size,
    read,
  });
}

const NAME_LENGTH = 100;

async function* readItems(source: ByteSource): AsyncGenerator<PlacedItem> {
  for await (const { index, ...entry } of readBundle(source)) {
    const name = entry.resource === null ? '' : idOf(entry.fullUrl, entry.resource);
    yield { ...entry, origin: `entry[${index}]${name === '' ? '' : ` ${name.slice(0, NAME_LENGTH)}`}` };
  }
}
