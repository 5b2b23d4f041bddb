import type { MetricName } from '@phds/catalog/metrics';
import { parseDay } from '../src/calendar.ts';
import type { Person } from '../src/person.ts';
import type { SyntheticReading } from '../src/reading.ts';
import { endOfDay, openTimeline, readingsIn, type Timeline } from '../src/timeline.ts';

/** A timeline of a person with a number of days up to the end of a date. */
export function timelineOf(person: Person, lastDate: string, days: number, seed = 1): Timeline {
  const day = parseDay(lastDate);
  if (day === null) throw new RangeError(`${lastDate} is no date`);
  return openTimeline(person, { seed, until: endOfDay(person, day), extent: { days } });
}

/** Returns a function that gives the readings of a type, in order. */
export function readingsByType(timeline: Timeline): (type: MetricName) => readonly SyntheticReading[] {
  const byType = Map.groupBy(readingsIn(timeline), ({ type }) => type);
  return (type) => byType.get(type) ?? [];
}

export function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The quantile of the values for this share. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
