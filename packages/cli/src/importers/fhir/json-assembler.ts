import { type ParsedTokenInfo, TokenType } from '@streamparser/json';
import { UnusableFile } from '../ingest/importer.ts';

/** Events that the assembler reports while reading. */
export interface AssemblerEvents {
  /** A scalar member of the top-level object, such as `resourceType`. */
  readonly onProperty: (name: string, value: unknown) => void;
  /** One element of the collected list, with the byte position of its last token; without a value if it is too large. */
  readonly onElement: (value: unknown, tooLarge: boolean, offset: number) => void;
}

export interface AssemblerOptions extends AssemblerEvents {
  /** Name of the top-level list whose elements are reported. */
  readonly list: string;
  /** Bytes of file text. Larger elements are skipped without holding them. */
  readonly maxElementBytes: number;
}

interface Frame {
  readonly isObject: boolean;
  /** Null while the content is skipped. */
  target: Record<string, unknown> | unknown[] | null;
  key: string;
}

type Expectation = 'value' | 'value-or-end' | 'key' | 'key-or-end' | 'colon' | 'comma-or-end' | 'nothing';

// FHIR resources nest about 20 levels deep. Deeper nesting is an attempt to exhaust the stack.
const MAX_DEPTH = 100;
const LIST_DEPTH = 2;

const OPENING: ReadonlySet<TokenType> = new Set([TokenType.LEFT_BRACE, TokenType.LEFT_BRACKET]);
const CLOSING: ReadonlySet<TokenType> = new Set([TokenType.RIGHT_BRACE, TokenType.RIGHT_BRACKET]);

/**
 * Assembles JSON values from tokens, holding only one element of one top-level list at a time. Everything else is only checked for
 * correct grammar. Throws UnusableFile with the byte offset of the first unexpected token.
 */
export class JsonAssembler {
  readonly #options: AssemblerOptions;
  readonly #stack: Frame[] = [];
  #expect: Expectation = 'value';
  #elementStart = 0;
  #inList = false;
  #tooLarge = false;

  constructor(options: AssemblerOptions) {
    this.#options = options;
  }

  /** Whether the top-level value is complete. */
  get isComplete(): boolean {
    return this.#expect === 'nothing';
  }

  accept({ token, value, offset }: ParsedTokenInfo): void {
    if (token === TokenType.COLON) this.#acceptColon(offset);
    else if (token === TokenType.COMMA) this.#acceptComma(offset);
    else if (CLOSING.has(token)) this.#close(token === TokenType.RIGHT_BRACE, offset);
    else if (token === TokenType.STRING && this.#expect.startsWith('key')) this.#acceptKey(value as string);
    else this.#acceptValue(token, value, offset);
  }

  #acceptColon(offset: number): void {
    if (this.#expect !== 'colon') throw unexpected('":"', offset);
    this.#expect = 'value';
  }

  #acceptComma(offset: number): void {
    const frame = this.#stack.at(-1);
    if (this.#expect !== 'comma-or-end' || frame === undefined) throw unexpected('","', offset);
    this.#expect = frame.isObject ? 'key' : 'value';
  }

  #acceptKey(name: string): void {
    const frame = this.#stack.at(-1);
    if (frame !== undefined) frame.key = name;
    this.#expect = 'colon';
  }

  #acceptValue(token: TokenType, value: unknown, offset: number): void {
    if (this.#expect !== 'value' && this.#expect !== 'value-or-end') throw unexpected('a value', offset);
    this.#checkSize(offset);
    if (OPENING.has(token)) this.#open(token === TokenType.LEFT_BRACE, offset);
    else this.#complete(value, offset);
  }

  #open(isObject: boolean, offset: number): void {
    const depth = this.#stack.length;
    if (depth >= MAX_DEPTH) throw new UnusableFile(`The file nests deeper than ${MAX_DEPTH} levels`, offset);
    const parent = this.#stack.at(-1);
    if (depth === 1) this.#inList = !isObject && parent?.key === this.#options.list;
    if (depth === LIST_DEPTH) this.#elementStart = offset;
    const isHeld = this.#inList && (depth === LIST_DEPTH || (depth > LIST_DEPTH && parent?.target !== null));
    this.#stack.push({ isObject, target: isHeld ? emptyContainer(isObject) : null, key: '' });
    this.#expect = isObject ? 'key-or-end' : 'value-or-end';
  }

  #close(isObject: boolean, offset: number): void {
    const frame = this.#stack.at(-1);
    const mayEnd =
      this.#expect === 'comma-or-end' || this.#expect === (isObject ? 'key-or-end' : 'value-or-end');
    if (frame === undefined || frame.isObject !== isObject || !mayEnd) {
      throw unexpected(isObject ? '"}"' : '"]"', offset);
    }
    this.#checkSize(offset);
    this.#stack.pop();
    if (this.#stack.length === 1) this.#inList = false;
    this.#complete(frame.target, offset);
  }

  /** Completes a value: adds it to its container or reports it. */
  #complete(value: unknown, offset: number): void {
    const parent = this.#stack.at(-1);
    this.#expect = parent === undefined ? 'nothing' : 'comma-or-end';
    if (parent === undefined) return;
    if (this.#stack.length === 1) {
      if (value === null || typeof value !== 'object') this.#options.onProperty(parent.key, value);
    } else if (this.#stack.length === LIST_DEPTH && this.#inList) {
      this.#options.onElement(value, this.#tooLarge, offset);
      this.#tooLarge = false;
    } else put(parent, value);
  }

  #checkSize(offset: number): void {
    if (this.#stack.length <= LIST_DEPTH || !this.#inList || this.#tooLarge) return;
    if (offset - this.#elementStart <= this.#options.maxElementBytes) return;
    this.#tooLarge = true;
    for (const frame of this.#stack) frame.target = null;
  }
}

function emptyContainer(isObject: boolean): Record<string, unknown> | unknown[] {
  return isObject ? {} : [];
}

function put(parent: Frame, value: unknown): void {
  if (parent.target === null) return;
  if (Array.isArray(parent.target)) parent.target.push(value);
  // Assigning this name would replace the prototype.
  else if (parent.key !== '__proto__') parent.target[parent.key] = value;
}

function unexpected(what: string, offset: number): UnusableFile {
  return new UnusableFile(`The file is not valid JSON: unexpected ${what}`, offset);
}
