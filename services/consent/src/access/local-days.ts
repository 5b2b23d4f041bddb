import { isDate } from '@phds/catalog/instants';
import { localDate, startOfDay } from '@phds/catalog/local-time';

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
const AFTER_EVERYTHING = 0x7fff_ffff;

/** The first and the last day, `YYYY-MM-DD`. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

/** Consecutive days in a time zone. */
export interface LocalDays extends DayRange {
  /** The quarter hours since 1970 with which the days begin, and the one with which the day after the last begins. */
  readonly starts: readonly number[];
}

/** Since 1972 every time zone differs from UTC by whole quarter hours, so the days of all zones consist of quarter hours. */
export function toLocalDays(from: string, to: string, timeZone: string): LocalDays {
  const starts: number[] = [];
  const end = Date.parse(to) + DAY_MS;
  for (let midnight = Date.parse(from); midnight <= end; midnight += DAY_MS) {
    const date = new Date(midnight).toISOString().slice(0, 10);
    const start = isDate(date)
      ? Math.ceil(startOfDay(date, timeZone).getTime() / QUARTER_MS)
      : AFTER_EVERYTHING;
    starts.push(start);
  }
  return { from, to, starts };
}

/** Today in a time zone and the days before, `count` in all. */
export function latestDays(count: number, now: Date, timeZone: string): LocalDays {
  const today = localDate(now, timeZone);
  const first = new Date(Date.parse(today) - (count - 1) * DAY_MS).toISOString().slice(0, 10);
  return toLocalDays(first, today, timeZone);
}
