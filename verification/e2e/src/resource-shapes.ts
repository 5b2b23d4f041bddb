import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import type { EndpointId } from '@phds/catalog/endpoints';
import { METRICS } from '@phds/catalog/metrics';
import {
  ADHERENCE_STATUSES,
  AGGREGATION_BASES,
  BLOOD_TYPES,
  GENDERS,
  MEDICATION_PATTERNS,
  MOODS,
  SEVERITIES,
  TREND_BUCKETS,
} from '@phds/catalog/wire-names';

/** Checks the value of a field. */
export type Check = (value: unknown) => boolean;

/** The fields of an object with their checks. Other fields are not allowed. */
export type Shape = Readonly<Record<string, Check>>;

const matches =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
const oneOf =
  (values: readonly unknown[]): Check =>
  (value) =>
    values.includes(value);
const nullOr =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const object =
  (shape: Shape): Check =>
  (value) =>
    findFaults(value, shape).length === 0;
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);

const text: Check = (value) => typeof value === 'string' && value !== '';
const number: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const count: Check = (value) => Number.isInteger(value) && (value as number) >= 0;
const twoDecimals: Check = (value) => number(value) && /^\d+(\.\d{1,2})?$/.test(String(value));
const id = matches(/^[a-z]+_[A-Za-z0-9_]+$/);
const isRealTime = (value: unknown) => !Number.isNaN(Date.parse(String(value)));
const instant: Check = (value) =>
  matches(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/)(value) && isRealTime(value);
const offsetTime: Check = (value) =>
  matches(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{3})?[+-]\d{2}:\d{2}$/)(value) && isRealTime(value);
const date: Check = (value) => matches(/^\d{4}-\d{2}-\d{2}$/)(value) && isRealTime(value);
const partialDate = matches(/^\d{4}(-\d{2}(-\d{2})?)?$/);
const severity = nullOr(oneOf(SEVERITIES));
const metricType = oneOf(METRICS.map(({ name }) => name));
const unit = oneOf(METRICS.map((metric) => metric.unit));

const standingFact: Shape = { id, name: text, severity, sinceDate: nullOr(partialDate) };

const metricSummary: Shape = {
  type: metricType,
  category: oneOf(CATEGORY_SLUGS),
  unit,
  basis: oneOf(AGGREGATION_BASES),
  count,
  latest: object({ value: number, timestamp: instant }),
  average: number,
  min: number,
  max: number,
  sum: number,
  referenceRange: nullOr(object({ low: number, high: number, source: text })),
  outOfRange: nullOr(object({ below: count, above: count, total: count })),
};

/** The items of each list, and the object of each other endpoint. */
export const RESOURCE_SHAPES: Readonly<Record<EndpointId, Shape>> = {
  'health-data': {
    id,
    type: metricType,
    value: nullOr(number),
    unit,
    timestamp: instant,
    source: matches(/^[a-z0-9-]+$/),
  },
  aggregations: {
    from: nullOr(text),
    to: nullOr(text),
    timeZone: matches(/^[A-Z][A-Za-z_]+(\/[A-Za-z_]+)*$/),
    generatedAt: instant,
    metrics: listOf(object(metricSummary)),
  },
  trends: {
    type: metricType,
    bucket: oneOf(TREND_BUCKETS),
    start: offsetTime,
    end: offsetTime,
    unit,
    count,
    value: number,
    average: number,
    min: number,
    max: number,
    sum: number,
  },
  symptoms: { id, description: text, severity, timestamp: instant },
  medications: {
    id,
    name: text,
    dosage: nullOr(text),
    frequency: nullOr(text),
    condition: nullOr(text),
    pattern: nullOr(oneOf(MEDICATION_PATTERNS)),
  },
  adherence: {
    id,
    scheduledAt: nullOr(instant),
    status: oneOf(ADHERENCE_STATUSES),
    takenAt: nullOr(instant),
    dose: nullOr(text),
    reason: nullOr(text),
  },
  conditions: standingFact,
  allergies: standingFact,
  appointments: {
    id,
    title: text,
    dateTime: offsetTime,
    specialty: nullOr(text),
    location: nullOr(text),
  },
  weight: { id, weightKg: twoDecimals, date },
  mood: { id, mood: oneOf(MOODS), note: nullOr(text), timestamp: instant },
  reports: { id, generatedAt: instant, dateRange: object({ from: date, to: date }), summary: text },
  profile: {
    name: nullOr(text),
    gender: nullOr(oneOf(GENDERS)),
    dateOfBirth: nullOr(date),
    bloodType: nullOr(oneOf(BLOOD_TYPES)),
  },
  ehr: {
    id,
    resourceType: matches(/^[A-Z][A-Za-z]+$/),
    summary: (value) => text(value) && (value as string).length <= 500,
    timestamp: instant,
  },
  'time-zone': { timeZone: text },
};

/** The defects of an object: fields that are missing, unknown or fail their check. */
export function findFaults(value: unknown, shape: Shape): string[] {
  if (typeof value !== 'object' || value === null) return ['is no object'];
  const fields = new Map(Object.entries(value));
  const missing = Object.keys(shape).filter((name) => !fields.has(name));
  const wrong = [...fields].filter(([name, content]) => shape[name]?.(content) !== true);
  return [
    ...missing.map((name) => `${name} is missing`),
    ...wrong.map(([name, content]) => `${name}: ${JSON.stringify(content)}`),
  ];
}
