import { findMetricByName, type Metric, type MetricKey, roundToDecimals } from '@phds/catalog/metrics';
import type { Reading as ReadingMessage } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { toDate } from './dates.ts';
import { checkMoment, checkSource, RefusedItem } from './refusal.ts';
import { convertToMetricUnit } from './units.ts';

/** A stored reading as it is returned. */
export interface Reading {
  readonly id: string;
  readonly metric: MetricKey;
  /** In the unit of the metric type; null only for an ECG without a heart rate. */
  readonly value: number | null;
  /** Start of the interval: RFC 3339, UTC, milliseconds, `Z`. */
  readonly timestamp: string;
  readonly source: string;
}

/** A stored reading with its end; null if it is the start. */
export interface ReadingSpan extends Reading {
  readonly endTimestamp: string | null;
}

/** The two types of which readings of the same times and source are one measurement. */
export const BLOOD_PRESSURE = ['blood-pressure', 'bp-diastolic'] as const satisfies MetricKey[];

/** The natural key of a user's reading: a second one with the same key replaces the first. */
export interface ReadingKey {
  readonly metric: Metric;
  readonly startAt: Date;
  readonly endAt: Date;
  readonly source: string;
}

/** A validated reading. */
export interface NewReading extends ReadingKey {
  readonly value: number | null;
}

/** A reading before validation; without an end it ends at its start. */
export type ReadingDraft = Omit<ReadingMessage, '$typeName' | '$unknown'>;

/** The natural key of a reading before validation. */
export type ReadingKeyDraft = Omit<ReadingDraft, 'value' | 'unit'>;

/** Validates, converts and rounds one reading. Throws RefusedItem with the reason. */
export function parseReading(draft: ReadingDraft, now: Date): NewReading {
  const key = parseReadingKey(draft);
  checkMoment('start', key.startAt, now);
  checkMoment('end', key.endAt, now);
  checkLength(key);
  return { ...key, value: parseValue(key.metric, draft.value, draft.unit) };
}

/** Parses a natural key. Throws RefusedItem with the reason. */
export function parseReadingKey(draft: ReadingKeyDraft): ReadingKey {
  const { type, source } = draft;
  const metric = parseMetric(type);
  const startAt = toDate(draft.start);
  if (startAt === null) throw new RefusedItem('start is missing');
  const endAt = toDate(draft.end) ?? startAt;
  if (endAt < startAt) throw new RefusedItem('end is before start');
  checkSource(source);
  return { metric, startAt, endAt, source };
}

/** The metric type of a name in any spelling. Throws RefusedItem for an unknown one. */
export function parseMetric(type: string): Metric {
  const metric = findMetricByName(type);
  if (metric === null) throw new RefusedItem('unknown type');
  return metric;
}

const DAY_MS = 86_400_000;

/** A type measured in minutes of a day cannot span more than a day. */
function checkLength({ metric, startAt, endAt }: ReadingKey): void {
  if (metric.unit === 'min' && endAt.getTime() - startAt.getTime() > DAY_MS) {
    throw new RefusedItem('interval is longer than a day');
  }
}

function parseValue(metric: Metric, given: number | undefined, unit: string): number | null {
  if (given === undefined) {
    if (metric.nullable) return null;
    throw new RefusedItem('value is missing');
  }
  if (!Number.isFinite(given)) throw new RefusedItem('value is not a number');
  const converted = convertToMetricUnit(metric, given, unit);
  if (converted === null) throw new RefusedItem(`unit cannot be converted to ${metric.unit}`);
  const value = roundToDecimals(converted, metric.decimals);
  const { min, max } = metric.plausible;
  if (value < min || value > max) {
    throw new RefusedItem(`value is outside the plausible range ${min} to ${max} ${metric.unit}`);
  }
  return value;
}
