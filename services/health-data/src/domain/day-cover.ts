import { localDate, offsetMsAt, startOfDay } from './time-zone.ts';
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

/** A range of instants, cut where local hours begin. */
export interface HourCover {
  /** What is left at its ends. */
  readonly edges: readonly Range[];
  /** The whole hours; null when there is none. */
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

/** The nearest beginning of a local hour; undefined where the clock is moved by less than an hour on the way there. */
function findHour(at: Date, round: (hours: number) => number, timeZone: string): Date | undefined {
  const offset = offsetMsAt(at.getTime(), timeZone);
  const instant = round((at.getTime() + offset) / HOUR_MS) * HOUR_MS - offset;
  const isHour = (instant + offsetMsAt(instant, timeZone)) % HOUR_MS === 0;
  return isHour ? new Date(instant) : undefined;
}

interface Midnight {
  readonly at: Date;
  /** The midnight UTC of the date that begins there. */
  readonly date: Date;
}

function findNextMidnight(at: Date, timeZone: string): Midnight {
  let midnight = findLastMidnight(at, timeZone);
  while (midnight.at < at) midnight = findClearMidnight(midnight.date, 1, timeZone);
  return midnight;
}

function findLastMidnight(at: Date, timeZone: string): Midnight {
  const date = new Date(`${localDate(at, timeZone)}T00:00:00Z`);
  return findClearMidnight(new Date(date.getTime() + DAY_MS), -1, timeZone);
}

/**
 * The midnight of the next or the last date that parts earlier dates from later ones. In some years St. John's put its clock
 * back a minute past midnight, to the day before.
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
