import { isMixed, type TimeBound, type TimeWindow } from '@phds/catalog/instants';
import { startOfDay } from '@phds/catalog/local-time';
import type { Violation } from '@phds/service-kit/errors';
import { midnightUtc, toDateText } from './dates.ts';

/** A window for a query: instants, or for date fields the midnights UTC of dates. */
export interface Range {
  readonly from: Date | null;
  readonly to: Date | null;
}

/** The part of a range from `since` on; an empty range if it ends before. */
export function notBefore(range: Range, since: Date | null): Range {
  if (since === null || (range.from !== null && range.from >= since)) return range;
  return { from: range.to !== null && range.to < since ? range.to : since, to: range.to };
}

/** A range of instants split at whole units of UTC. */
interface Split {
  /** What begins and ends with a unit; null if there is none. */
  readonly whole: Range | null;
  /** The parts of units at the ends: less than two units together. */
  readonly edges: readonly Range[];
}

/** Splits a range at the multiples of a unit in milliseconds. */
export function splitRange({ from, to }: Range, unitMs: number): Split {
  if (from !== null && to !== null && from >= to) return { whole: null, edges: [] };
  const first = from === null ? null : new Date(Math.ceil(from.getTime() / unitMs) * unitMs);
  const end = to === null ? null : new Date(Math.floor(to.getTime() / unitMs) * unitMs);
  if (first !== null && end !== null && first >= end) return { whole: null, edges: [{ from, to }] };
  const edges = [
    { from, to: first },
    { from: end, to },
  ].filter((edge) => edge.from !== null && edge.to !== null && edge.from < edge.to);
  return { whole: { from: first, to: end }, edges };
}

export const EVERYTHING: TimeWindow = { from: null, to: null };

/** A window that ends before it starts. */
export const INVERTED: Violation = { parameter: 'from', message: 'must be before to' };

/** Whether the bounds are in the wrong order, with a date as its midnight in the zone. */
export function isInvertedIn(window: TimeWindow, timeZone: string): boolean {
  if (!isMixed(window)) return false;
  const { from, to } = toInstantsIn(window, timeZone);
  return from !== null && to !== null && from >= to;
}

/** For instant fields: a date means midnight UTC. */
export function toInstants(window: TimeWindow): Range {
  return { from: window.from?.at ?? null, to: window.to?.at ?? null };
}

/** For date fields: a date is represented by its midnight UTC, so an instant within a day rounds up to the next. */
export function toDates(window: TimeWindow): Range {
  return { from: toDay(window.from), to: toDay(window.to) };
}

function toDay(bound: TimeBound | null): Date | null {
  if (bound === null) return null;
  const day = midnightUtc(toDateText(bound.at));
  return day.getTime() === bound.at.getTime() ? day : new Date(day.getTime() + 86_400_000);
}

/** For aggregations and trends: a date means midnight in the zone. */
export function toInstantsIn(window: TimeWindow, timeZone: string): Range {
  const toInstant = (bound: TimeBound | null) => {
    if (bound === null) return null;
    return bound.date === null ? bound.at : startOfDay(bound.date, timeZone);
  };
  return { from: toInstant(window.from), to: toInstant(window.to) };
}
