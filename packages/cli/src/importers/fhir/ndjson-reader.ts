import type { ByteSource } from '../tables/byte-source.ts';
import { type Line, readLines } from '../tables/line-reader.ts';
import type { JsonObject } from './json-values.ts';
import { parseResource } from './resource-text.ts';

/** One line of an NDJSON file. */
export interface ResourceLine {
  /** From 1. */
  readonly number: number;
  /** Position after the line. */
  readonly end: number;
  /** Null if the line has no usable resource; `problem` then gives the reason, and is empty for an empty line. */
  readonly resource: JsonObject | null;
  readonly problem: string;
}

const MAX_LINE_BYTES = 8 * 1024 * 1024;

/** Reads the resources of an NDJSON file in groups of lines; a large line comes alone. */
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
