import type { ByteSource } from '../tables/byte-source.ts';
import { type Line, readLines } from '../tables/line-reader.ts';
import { isObject, type JsonObject, textAt } from './json-values.ts';

/** One line of an NDJSON file. */
export interface ResourceLine {
  /** From 1. */
  readonly number: number;
  /** Position of the first byte after it. */
  readonly end: number;
  /** Null when the line holds none; `problem` then says why, and is empty for an empty line. */
  readonly resource: JsonObject | null;
  readonly problem: string;
}

const MAX_LINE_BYTES = 8 * 1024 * 1024;
// FHIR resources nest about 20 deep; whoever nests deeper means to exhaust the stack.
const MAX_DEPTH = 100;

/** Reads the resources of an NDJSON file, several lines at a time, but never more than one large one. */
export async function* readNdjson(source: ByteSource): AsyncGenerator<Iterable<ResourceLine>> {
  for await (const lines of readLines(source, { maxLineBytes: MAX_LINE_BYTES }))
    yield lines.values().map(toResource);
}

function toResource({ number, end, text, problem }: Line): ResourceLine {
  const without = (reason: string): ResourceLine => ({ number, end, resource: null, problem: reason });
  if (problem !== '') return without(problem);
  if (text.trim() === '') return without('');
  if (isTooDeep(text)) return without(`line nests deeper than ${MAX_DEPTH} levels`);
  const value = parseJson(text);
  if (value === undefined) return without('line is not valid JSON');
  if (!isObject(value) || textAt(value, 'resourceType') === '') return without('line is not a FHIR resource');
  return { number, end, resource: value, problem: '' };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING: ReadonlySet<number> = new Set([0x5b, 0x7b]);
const CLOSING: ReadonlySet<number> = new Set([0x5d, 0x7d]);

/** Looked at before parsing, because building what is too deep is what costs. */
function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === QUOTE) index = endOfString(text, index);
    else if (OPENING.has(code)) depth += 1;
    else if (CLOSING.has(code)) depth -= 1;
    if (depth > MAX_DEPTH) return true;
  }
  return false;
}

/** Where the string ends that begins at `start`. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = 0;
    while (text.charCodeAt(end - 1 - escapes) === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return end;
  }
  return text.length;
}
