import type { Metric } from '@phds/catalog/metrics';
import { type Bucket, dateAt, dayOf, hourAt, startOfDate, toLocalText } from './clock.ts';
import { averageOf, fromUnits, sumOf, toUnits } from './exact.ts';
import type { Kept, Person } from './person.ts';
import {
  type Bound,
  beginningOf,
  byNewest,
  isWithin,
  type Request,
  toBound,
  toPage,
  toUtcText,
  typesOf,
} from './request.ts';

/** The instant that determines the bucket of a reading: sleep counts where it ends. */
function keyOf({ metric, start, end }: Kept): number {
  return metric.category === 'sleep' ? end : start;
}

/** Readings of one type for a summary, without those that a second device counted again. */
function readingsOf(person: Person, request: Request, metric: Metric, zone: string): Kept[] {
  const since = beginningOf(person, request);
  const from = toBound(request.from, zone);
  const to = toBound(request.to, zone);
  const readings = person.readings.filter(
    (reading) =>
      reading.metric === metric &&
      reading.value !== null &&
      isWithin(keyOf(reading), from, to) &&
      isWithin(reading.start, since, null),
  );
  return metric.kind === 'additive' ? largestSourceOf(readings, zone) : readings;
}

/** In each local hour (for sleep: date of waking up), the source with the largest sum; on a tie, the first by name. */
function largestSourceOf(readings: readonly Kept[], zone: string): Kept[] {
  const slots = Map.groupBy(readings, (reading) =>
    reading.metric.category === 'sleep'
      ? dateAt(keyOf(reading), zone)
      : String(hourAt(keyOf(reading), zone).start),
  );
  return [...slots.values()].flatMap((slot) => {
    const sources = [...Map.groupBy(slot, ({ source }) => source).values()];
    sources.sort((a, b) => unitsOf(b) - unitsOf(a) || (nameOf(a) < nameOf(b) ? -1 : 1));
    return sources[0] ?? [];
  });
}

function unitsOf(readings: readonly Kept[]): number {
  return sumOf(readings.map(({ metric, value }) => toUnits(value ?? 0, metric.decimals)));
}

function nameOf([first]: readonly Kept[]): string {
  return first?.source ?? '';
}

/** The first instant that counts, according to the request and the grant. */
function beginningOfWindow(person: Person, request: Request, zone: string): Bound {
  const bounds = [toBound(request.from, zone), beginningOf(person, request)].filter(
    (bound) => bound !== null,
  );
  return bounds.length === 0 ? null : Math.max(...bounds);
}

/** The part of a bucket inside a window. */
function within({ start, end }: Bucket, from: Bound, to: Bound): Bucket {
  return {
    start: from !== null && isWithin(from, start, end) ? from : start,
    end: to !== null && isWithin(to, start, end) ? to : end,
  };
}

/** Count, average, minimum, maximum and sum of numbers in units of the last decimal. */
function statisticsOf(units: readonly number[], { decimals }: Metric) {
  const sum = sumOf(units);
  return {
    average: averageOf(sum, units.length, decimals),
    min: fromUnits(Math.min(...units), decimals),
    max: fromUnits(Math.max(...units), decimals),
    sum: fromUnits(sum, decimals),
  };
}

/** The summary of everything in the window: of readings, or of daily totals for additive types. */
export function aggregate(person: Person, request: Request, now: Date) {
  const zone = request.timeZone ?? person.zone;
  const to = toBound(request.to, zone);
  const later = beginningOfWindow(person, request, zone);
  const begin = later === null || to === null ? later : Math.min(later, to);
  const metrics = typesOf(request).flatMap((metric) => {
    const readings = readingsOf(person, request, metric, zone).sort(byNewest);
    return readings.length === 0 ? [] : [toSummary(metric, readings, zone, begin)];
  });
  return {
    data: {
      from: begin === null ? null : toUtcText(begin),
      to: to === null ? null : toUtcText(to),
      timeZone: zone,
      generatedAt: now.toISOString(),
      metrics,
    },
  };
}

function toSummary(metric: Metric, newestFirst: readonly Kept[], zone: string, begin: Bound) {
  const { name, category, unit, decimals, referenceRange: range } = metric;
  const additive = metric.kind === 'additive';
  const days = Map.groupBy(newestFirst, (reading) => dateAt(keyOf(reading), zone));
  const units = additive
    ? [...days.values()].map(unitsOf)
    : newestFirst.map(({ value }) => toUnits(value ?? 0, decimals));
  const below = range === null ? 0 : units.filter((one) => one < toUnits(range.low, decimals)).length;
  const above = range === null ? 0 : units.filter((one) => one > toUnits(range.high, decimals)).length;
  const lastDay = [...days.keys()].sort().at(-1) ?? '';
  const newest = additive
    ? {
        value: fromUnits(unitsOf(days.get(lastDay) ?? []), decimals),
        at: Math.max(startOfDate(lastDay, zone), begin ?? Number.NEGATIVE_INFINITY),
      }
    : { value: newestFirst[0]?.value, at: newestFirst[0]?.start ?? 0 };
  return {
    type: name,
    category,
    unit,
    basis: additive ? 'day' : 'reading',
    count: units.length,
    latest: { value: newest.value, timestamp: toUtcText(newest.at) },
    ...statisticsOf(units, metric),
    referenceRange: range,
    outOfRange: range === null ? null : { below, above, total: below + above },
  };
}

/** Points of a trend: newest first, then in catalog order. */
export function trend(person: Person, request: Request) {
  const zone = request.timeZone ?? person.zone;
  const bucket = request.bucket ?? 'day';
  const [from, to] = [beginningOfWindow(person, request, zone), toBound(request.to, zone)];
  const points = typesOf(request).flatMap((metric) => {
    const readings = readingsOf(person, request, metric, zone);
    const buckets = Map.groupBy(readings, (reading) => bucketOf(reading, bucket, zone).start);
    return [...buckets.values()].map((inside) => {
      return { metric, inside, ...within(toBounds(inside, bucket, zone), from, to) };
    });
  });
  // The sort is stable: points of one time stay in catalog order.
  points.sort((a, b) => b.start - a.start);
  return toPage(points, request, ({ metric, inside, start, end }) => {
    const units = inside.map(({ value }) => toUnits(value ?? 0, metric.decimals));
    const { average, min, max, sum } = statisticsOf(units, metric);
    return {
      type: metric.name,
      bucket,
      start: toLocalText(start, zone),
      end: toLocalText(end, zone),
      unit: metric.unit,
      count: inside.length,
      value: metric.kind === 'additive' ? sum : average,
      average,
      min,
      max,
      sum,
    };
  });
}

function bucketOf(reading: Kept, bucket: 'hour' | 'day', zone: string): Bucket {
  const key = keyOf(reading);
  return bucket === 'hour' ? hourAt(key, zone) : dayOf(dateAt(key, zone), zone);
}

function toBounds([first]: readonly Kept[], bucket: 'hour' | 'day', zone: string): Bucket {
  return first === undefined ? { start: 0, end: 0 } : bucketOf(first, bucket, zone);
}
