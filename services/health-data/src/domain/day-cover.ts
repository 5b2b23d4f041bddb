import { localDate, startOfDay } from './time-zone.ts';
import type { Range } from './window.ts';

/** A range of instants, cut where local days begin. */
export interface DayCover {
  /** What is left of the days at its ends, as instants; none of them when the range begins and ends with a day. */
  readonly edges: readonly Range[];
  /** The whole days, as the midnights UTC of their dates; null when there is none. */
  readonly days: Range | null;
}

const DAY_MS = 86_400_000;

// No reading is from before 1900 or from another millennium, and dates in between have years of four digits.
const FIRST = Date.UTC(1800, 0, 1);
const LAST = Date.UTC(9000, 0, 1);

/** The whole local days of a range, and the partial ones at its ends. An open end is a whole day's. */
export function coverDays(range: Range, timeZone: string): DayCover {
  const { from, to } = clamp(range);
  if (from !== null && to !== null && from >= to) return { edges: [], days: null };
  const lower = from === null ? null : findNextMidnight(from, timeZone);
  const upper = to === null ? null : findLastMidnight(to, timeZone);
  if (lower !== null && upper !== null && lower.at > upper.at) return { edges: [{ from, to }], days: null };
  const edges = [
    { from, to: lower?.at ?? null },
    { from: upper?.at ?? null, to },
  ].filter((edge) => edge.from !== null && edge.to !== null && edge.from < edge.to);
  const days = { from: lower?.date ?? null, to: upper?.date ?? null };
  const isEmpty = days.from !== null && days.to !== null && days.from >= days.to;
  return { edges, days: isEmpty ? null : days };
}

interface Midnight {
  readonly at: Date;
  /** The midnight UTC of the date that begins there. */
  readonly date: Date;
}

function findNextMidnight(at: Date, timeZone: string): Midnight {
  const midnight = findLastMidnight(at, timeZone);
  return midnight.at.getTime() === at.getTime()
    ? midnight
    : toMidnight(new Date(midnight.date.getTime() + DAY_MS), timeZone);
}

function findLastMidnight(at: Date, timeZone: string): Midnight {
  return toMidnight(new Date(`${localDate(at, timeZone)}T00:00:00Z`), timeZone);
}

function toMidnight(date: Date, timeZone: string): Midnight {
  return { at: startOfDay(date.toISOString().slice(0, 10), timeZone), date };
}

function clamp({ from, to }: Range): Range {
  return {
    from: from === null || from.getTime() < FIRST ? null : new Date(Math.min(from.getTime(), LAST)),
    to: to === null || to.getTime() > LAST ? null : new Date(Math.max(to.getTime(), FIRST)),
  };
}
