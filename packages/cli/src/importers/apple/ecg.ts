import type { ImportedReading } from '../ingest/importer.ts';
import { parseExportDate } from './export-dates.ts';
import { type Outcome, refused } from './records.ts';
import { APPLE_HEALTH, APPLE_WATCH } from './source-labels.ts';

/** Bytes read of a recording: the header in front of thirty seconds of voltages. */
export const ECG_HEADER_BYTES = 16 * 1024;

const TYPE = 'ECG';
const MAX_HEADER_LINES = 40;
const SAMPLE = /^-?\d+([.,]\d+)?$/;
const HEART_RATE = /^(\d{1,3}(?:[.,]\d+)?) ?(?:bpm|count\/min|beats\/min)$/i;
const WATCH = /^(?:apple )?watch/i;

/**
 * Reads the header of a recording: its time, device, and sometimes the average heart rate; without one the reading has no value.
 * Captions are in the phone's language, so values are recognised by their format. The person's name and date of birth in the header
 * are ignored.
 */
export function mapEcg(head: string): Outcome {
  const values = headerValues(head);
  const start = values.map(parseExportDate).find((moment) => !Number.isNaN(moment));
  if (start === undefined) return refused(TYPE, 'no date of recording');
  const rate = values.map((value) => HEART_RATE.exec(value)?.[1]).find((text) => text !== undefined);
  const reading: ImportedReading = {
    type: TYPE,
    start,
    end: start,
    value: rate === undefined ? null : Number(rate.replace(',', '.')),
    unit: '/min',
    source: values.some((value) => WATCH.test(value)) ? APPLE_WATCH : APPLE_HEALTH,
  };
  return { kind: 'reading', reading };
}

function headerValues(head: string): string[] {
  const lines = head.split(/\r?\n/, MAX_HEADER_LINES);
  const samples = lines.findIndex((line) => SAMPLE.test(line.trim()));
  return lines
    .slice(0, samples === -1 ? lines.length : samples)
    .map((line) =>
      line
        .slice(line.indexOf(',') + 1)
        .trim()
        .replace(/^"(.*)"$/, '$1'),
    )
    .filter((value) => value !== '');
}
