import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { UnusableFile } from '../ingest/unusable-file.ts';
import { DocumentText } from './document-text.ts';
import type { ExportElement } from './export-element.ts';
import { Prolog } from './prolog.ts';

const ROOT = 'HealthData';
const MAX_DEPTH = 32;
// Apple's tags have some hundred characters; the parser holds one at a time.
const MAX_TOKEN = 1024 * 1024;

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
  #line = 0;
  #written = 0;
  #lastTag = 0;

  constructor() {
    const parser = this.#parser;
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
    if (this.#depth > 0)
      throw new UnusableFile(`The file ends in the middle, in line ${this.#parser.line}: it is cut off`);
    this.#wellFormed(() => this.#parser.close());
  }

  #parse(text: string): readonly ExportElement[] {
    if (text === '') return [];
    this.#wellFormed(() => this.#parser.write(text));
    this.#written += text.length;
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

  #begin(): void {
    this.#line = this.#parser.line;
    this.#depth += 1;
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
      this.#elements.push(this.#current);
      this.#current = null;
    }
    this.#depth -= 1;
  }
}

function toElement(name: string, attributes: Record<string, string>, line: number): ExportElement {
  return { name, attributes, line, end: 0, wasUserEntered: false, timeZone: '' };
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
