import { TOPICS, type Topic } from '../readings/topics.ts';
import type { Timeline } from '../timeline.ts';
import { APPLE_TOPICS, writeAppleExport } from './apple.ts';
import { toChunks } from './chunks.ts';
import { writeCsv } from './csv.ts';
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
