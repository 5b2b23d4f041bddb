import { METRICS } from '@phds/catalog/metrics';
import { readingsIn, type Timeline } from '../timeline.ts';
import { TOPICS, type Topic } from '../topics.ts';
import { APPLE_TOPICS, writeAppleExport } from './apple.ts';
import { writeFhirBundle, writeFhirLines } from './fhir.ts';

const WRITERS = {
  apple: writeAppleExport,
  fhir: writeFhirBundle,
  ndjson: writeFhirLines,
  csv: writeCsv,
} as const;

export type Format = keyof typeof WRITERS;

export const FORMATS = Object.keys(WRITERS) as readonly Format[];

/** Writes a timeline as a file, in chunks. */
export function writeTimeline(timeline: Timeline, format: Format): Generator<string> {
  return toChunks(WRITERS[format](timeline));
}

/** The topics that a format can contain. */
export function topicsOf(format: Format): readonly Topic[] {
  return format === 'apple' ? APPLE_TOPICS : TOPICS;
}

const units = new Map<string, string>(METRICS.map(({ name, unit }) => [name, unit]));

/** Writes the readings as CSV (RFC 4180): `type,start,end,value,unit,source`, with times in UTC. */
function* writeCsv(timeline: Timeline): Generator<string> {
  yield 'type,start,end,value,unit,source\r\n';
  for (const { type, start, end, value, source } of readingsIn(timeline)) {
    yield `${type},${toUtc(start)},${toUtc(end)},${value},${units.get(type)},${source}\r\n`;
  }
}

function toUtc(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19)}Z`;
}

const CHUNK_LENGTH = 64 * 1024;

/** Joins small texts into larger chunks. */
function* toChunks(texts: Iterable<string>): Generator<string> {
  let chunk = '';
  for (const text of texts) {
    chunk += text;
    if (chunk.length < CHUNK_LENGTH) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}
