import { isUtf8 } from 'node:buffer';
import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { UnusableFile } from '../ingest/importer.ts';

/** An element directly below `HealthData`, with the relevant metadata of its children. */
export interface ExportElement {
  readonly name: string;
  /** Has no prototype, so any name can be looked up. */
  readonly attributes: Readonly<Record<string, string | undefined>>;
  /** Line of the file in which the element starts, from 1. */
  readonly line: number;
  /** Position after the element, in characters. */
  end: number;
  /** `MetadataEntry` HKWasUserEntered is 1. */
  wasUserEntered: boolean;
  /** `MetadataEntry` HKTimeZone; empty if absent. */
  timeZone: string;
  /** Why the element cannot be used; empty if it can. */
  problem: string;
}

/** Decodes UTF-8 chunks and removes control characters that XML forbids but real exports contain (U+000B). */
class DocumentText {
  readonly #decoder = new TextDecoder('utf-8', { fatal: true });
  #bytes = 0;

  /** Throws UnusableFile if the bytes are not UTF-8. */
  write(chunk: Uint8Array): string {
    const text = this.#decode(withoutControls(chunk));
    this.#bytes += chunk.length;
    return text;
  }

  /** Throws UnusableFile if the last character is incomplete. */
  end(): void {
    this.#decode(new Uint8Array(), false);
  }

  #decode(chunk: Uint8Array, stream = true): string {
    try {
      return this.#decoder.decode(chunk, { stream });
    } catch {
      throw new UnusableFile('The file is not UTF-8 text', this.#bytes + validPrefix(chunk));
    }
  }
}

// Checking bytes costs a third of a regular expression over the text. In UTF-8 these bytes are never part of another character.
function withoutControls(chunk: Uint8Array): Uint8Array {
  for (let index = 0; index < chunk.length; index += 1) {
    if (isControl(chunk[index] ?? 0)) return chunk.filter((byte) => !isControl(byte));
  }
  return chunk;
}

function isControl(byte: number): boolean {
  return byte < 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09;
}

/** Approximate number of leading bytes that are valid UTF-8, for the message. */
function validPrefix(chunk: Uint8Array): number {
  let [low, high] = [0, chunk.length];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (isUtf8(chunk.subarray(0, middle))) low = middle;
    else high = middle - 1;
  }
  return low;
}

// Apple's tags have some hundred characters; the parser holds one at a time.
const MAX_TOKEN = 1024 * 1024;

/** White space, comments and processing instructions at the start of a text. */
const MISC = /^(?:\s+|<!--.*?-->|<\?.*?\?>)*/s;
/** A document type declaration. With an internal subset it ends at the first `]>` after which another tag starts. */
const DOCUMENT_TYPE = /^<!DOCTYPE[^[>]*(?:>|\[.*?\]\s*>(?=\s*<))/s;

/**
 * Removes the document type declaration before the root element but keeps its line breaks. Apple's declaration is sometimes malformed,
 * and nothing of it is needed: without declared entities, none can be expanded or fetched.
 */
class Prolog {
  #text: string | null = '';

  /** Returns the text without the declaration; empty until its end has been seen. Throws UnusableFile. */
  write(text: string): string {
    if (this.#text === null) return text;
    this.#text += text;
    const passed = withoutDocumentType(this.#text);
    if (passed !== null) this.#text = null;
    else if (this.#text.length > MAX_TOKEN)
      throw new UnusableFile('The text before the root element is larger than 1 MB');
    return passed ?? '';
  }

  /** The remaining text if the input ends before a root element. */
  end(): string {
    return this.#text ?? '';
  }
}

/** Null if the text ends before the root element. */
function withoutDocumentType(text: string): string | null {
  const start = MISC.exec(text)?.[0].length ?? 0;
  const rest = text.slice(start);
  if (rest.length < '<!DOCTYPE'.length || rest.startsWith('<!--') || rest.startsWith('<?')) return null;
  if (!rest.startsWith('<!DOCTYPE')) return text;
  const declaration = DOCUMENT_TYPE.exec(rest)?.[0];
  if (declaration === undefined) return null;
  return text.slice(0, start) + declaration.replaceAll(/[^\n]+/g, '') + rest.slice(declaration.length);
}

const ROOT = 'HealthData';
/** Mistakes within a tag after which the parser goes on at the right place. Apps write attributes such as `Scale App Version="2"`. */
const WITHIN_A_TAG = /(attribute without value|no whitespace between attributes|duplicate attribute)/;
const MAX_DEPTH = 32;

/**
 * Parses `HealthData` in chunks and returns the elements directly below it as they end. Of nested elements only metadata is read,
 * so memory does not depend on the size of an element. Throws UnusableFile.
 */
export class ExportParser {
  readonly #text = new DocumentText();
  readonly #prolog = new Prolog();
  readonly #parser = new SaxesParser();
  #elements: ExportElement[] = [];
  #current: ExportElement | null = null;
  #depth = 0;
  #line = 1;
  #written = 0;
  #lastTag = 0;
  #problem = '';
  /** The last characters of the text. */
  #tail = '';

  constructor() {
    const parser = this.#parser;
    parser.on('error', (error) => this.#take(error));
    parser.on('xmldecl', ({ encoding }) => checkEncoding(encoding));
    parser.on('opentagstart', () => this.#begin());
    parser.on('opentag', (tag) => this.#open(tag));
    parser.on('closetag', () => this.#close());
  }

  /** Number of characters read so far; `ExportElement.end` uses the same count. */
  get position(): number {
    return this.#written;
  }

  /** Returns the elements that ended in this chunk. */
  write(chunk: Uint8Array): readonly ExportElement[] {
    return this.#parse(this.#prolog.write(this.#text.write(chunk)));
  }

  /** Throws UnusableFile if the document is incomplete. */
  end(): void {
    this.#text.end();
    this.#parse(this.#prolog.end());
    if (this.#written === 0) throw new UnusableFile('The file is empty');
    if (this.#depth > 0) throw this.#endless();
    this.#wellFormed(() => this.#parser.close());
  }

  #parse(text: string): readonly ExportElement[] {
    if (text === '') return [];
    this.#wellFormed(() => this.#parser.write(text));
    this.#written += text.length;
    this.#tail = (this.#tail + text.slice(-100)).slice(-100);
    if (this.#written - this.#lastTag > MAX_TOKEN) {
      throw new UnusableFile(`A tag or text in line ${this.#line} is larger than 1 MB`);
    }
    const elements = this.#elements;
    this.#elements = [];
    return elements;
  }

  #wellFormed(parse: () => unknown): void {
    try {
      parse();
    } catch (error) {
      throw error instanceof UnusableFile ? error : notWellFormed(error, this.#parser.line);
    }
  }

  /** A mistake in a tag below the root costs only its element. Throws any other. */
  #take(error: Error): void {
    const mistake = this.#depth < 2 ? undefined : WITHIN_A_TAG.exec(error.message)?.[0];
    if (mistake === undefined) throw error;
    this.#problem ||= `is not well-formed: ${mistake}`;
  }

  /** Without its end the file is cut off; with it, something such as a bare `&` in the last tag has hidden it. */
  #endless(): UnusableFile {
    return this.#tail.trimEnd().endsWith(`</${ROOT}>`)
      ? new UnusableFile(`The file is not well-formed XML in line ${this.#line}: its end is not found`)
      : new UnusableFile(`The file ends in the middle, in line ${this.#parser.line}: it is cut off`);
  }

  #begin(): void {
    this.#line = this.#parser.line;
    this.#depth += 1;
    if (this.#depth === 2) this.#problem = '';
    if (this.#depth > MAX_DEPTH) throw new UnusableFile(`Elements are nested too deep in line ${this.#line}`);
  }

  #open({ name, attributes }: SaxesTagPlain): void {
    this.#lastTag = this.#parser.position;
    if (this.#depth === 2) this.#current = toElement(name, attributes, this.#line);
    else if (this.#depth === 3 && name === 'MetadataEntry') readMetadata(this.#current, attributes);
    else if (this.#depth === 1 && name !== ROOT) throw new UnusableFile(notAnExport(name));
  }

  #close(): void {
    this.#lastTag = this.#parser.position;
    if (this.#depth === 2 && this.#current !== null) {
      this.#current.end = this.#lastTag;
      this.#current.problem = this.#problem;
      this.#elements.push(this.#current);
      this.#current = null;
    }
    this.#depth -= 1;
  }
}

function toElement(name: string, attributes: Record<string, string>, line: number): ExportElement {
  return { name, attributes, line, end: 0, wasUserEntered: false, timeZone: '', problem: '' };
}

function readMetadata(
  element: ExportElement | null,
  { key, value = '' }: Record<string, string | undefined>,
): void {
  if (element === null) return;
  if (key === 'HKWasUserEntered') element.wasUserEntered = value === '1';
  else if (key === 'HKTimeZone') element.timeZone = value;
}

function checkEncoding(encoding: string | undefined): void {
  if (encoding !== undefined && !/^(utf-?8|us-ascii)$/i.test(encoding)) {
    throw new UnusableFile('The file declares an encoding other than UTF-8; only UTF-8 is supported');
  }
}

function notAnExport(root: string): string {
  const name = /^[\w:.-]{1,40}$/.test(root) ? root : 'something else';
  return `The file is not an Apple Health export: its root element is ${name} instead of ${ROOT}`;
}

/** The parser's description follows `line:column: `. Some of its messages quote the file; ours do not. */
function notWellFormed(error: unknown, line: number): UnusableFile {
  const message = error instanceof Error ? error.message.replace(/^\d+:\d+: /, '') : '';
  const reason = /^[a-z][a-z '-]{0,80}/.exec(message)?.[0].trim() ?? '';
  return new UnusableFile(
    `The file is not well-formed XML in line ${line}${reason === '' ? '' : `: ${reason}`}`,
  );
}
