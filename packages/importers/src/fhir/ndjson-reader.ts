import type { ByteSource } from '../tables/byte-source.ts';
import { type Line, readLines } from '../tables/line-reader.ts';
import type { JsonObject } from './json-values.ts';
import { parseResource } from './resource-text.ts';

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

/** Reads the resources of an NDJSON file, several lines at a time, but never more than one large one. */
export async function* readNdjson(source: ByteSource): AsyncGenerator<Iterable<ResourceLine>> {
  for await (const lines of readLines(source, { maxLineBytes: MAX_LINE_BYTES }))
    yield lines.values().map(toResource);
}

function toResource({ number, end, text, problem }: Line): ResourceLine {
  const without = (reason: string): ResourceLine => ({ number, end, resource: null, problem: reason });
  if (problem !== '') return without(problem);
  if (text.trim() === '') return without('');
  const resource = parseResource(text);
  return typeof resource === 'string' ? without(`line ${resource}`) : { number, end, resource, problem: '' };
}
