import { localDate, offsetMsAt, startOfDay } from '@phds/catalog/local-time';
import { midnightUtc } from './dates.ts';
import type { Range } from './window.ts';

/** A range of instants, split at the starts of local days. */
export interface DayCover {
  /** The partial days at its ends, as instants; empty if the range starts and ends with a day. */
  readonly edges: readonly Range[];
  /** The whole days, as the midnights UTC of their dates; null if there are none. */
  readonly days: Range | null;
}

const DAY_MS = 86_400_000;

// Outside the range of readings (1900 to the present), while all dates in between have four-digit years.
const FIRST = Date.UTC(1800, 0, 1);
const LAST = Date.UTC(9000, 0, 1);

/** The whole local days of a range, and the partial ones at its ends. An open end counts as the end of a whole day. */
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

/** A range of instants, split at the starts of local hours. */
export interface HourCover {
  /** The partial hours at its ends. */
  readonly edges: readonly Range[];
  /** The whole hours; null if there are none. */
  readonly hours: Range | null;
}

/** The whole local hours of a range, and the partial ones at its ends. */
export function coverHoursOf({ from, to }: Range, timeZone: string): HourCover {
  const first = from === null ? null : findHour(from, Math.ceil, timeZone);
  const end = to === null ? null : findHour(to, Math.floor, timeZone);
  const isEmpty = first !== null && end !== null && Number(first) >= Number(end);
  if (first === undefined || end === undefined || isEmpty) return { edges: [{ from, to }], hours: null };
  const edges = [
    { from, to: first },
    { from: end, to },
  ].filter((edge) => edge.from !== null && edge.to !== null && edge.from < edge.to);
  return { edges, hours: { from: first, to: end } };
}

const HOUR_MS = 3_600_000;

/** The nearest start of a local hour; undefined if the clock changes by less than an hour in between. */
function findHour(at: Date, round: (hours: number) => number, timeZone: string): Date | undefined {
  const offset = offsetMsAt(at.getTime(), timeZone);
  const instant = round((at.getTime() + offset) / HOUR_MS) * HOUR_MS - offset;
  const isHour = (instant + offsetMsAt(instant, timeZone)) % HOUR_MS === 0;
  return isHour ? new Date(instant) : undefined;
}

interface Midnight {
  readonly at: Date;
  /** The midnight UTC of the date that starts there. */
  readonly date: Date;
}

function findNextMidnight(at: Date, timeZone: string): Midnight {
  let midnight = findLastMidnight(at, timeZone);
  while (midnight.at < at) midnight = findClearMidnight(midnight.date, 1, timeZone);
  return midnight;
}

function findLastMidnight(at: Date, timeZone: string): Midnight {
  const date = midnightUtc(localDate(at, timeZone));
  return findClearMidnight(new Date(date.getTime() + DAY_MS), -1, timeZone);
}

/**
 * The nearest midnight, in the given direction, that separates earlier dates from later ones. In some years St. John's set its
 * clock back a minute past midnight, to the previous day.
 */
function findClearMidnight(date: Date, step: 1 | -1, timeZone: string): Midnight {
  const midnight = toMidnight(new Date(date.getTime() + step * DAY_MS), timeZone);
  const text = midnight.date.toISOString().slice(0, 10);
  const isClear = localDate(new Date(midnight.at.getTime() + HOUR_MS / 2), timeZone) >= text;
  return isClear ? midnight : findClearMidnight(midnight.date, step, timeZone);
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
