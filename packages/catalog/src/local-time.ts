import { withinCalendar } from './instants.ts';
import { ZoneCache } from './time-zones.ts';

// Local time by `Intl`.

// Creating a formatter costs as much as dozens of uses.
const formatters = new ZoneCache(
  (timeZone) =>
    new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'gregory',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    }),
);

/** The first instant of a local date (YYYY-MM-DD). Where summer time skips midnight, the day starts at 01:00. */
export function startOfDay(date: string, timeZone: string): Date {
  const midnight = Date.parse(`${date}T00:00:00.000Z`);
  const before = offsetMsAt(midnight - 86_400_000, timeZone);
  const after = offsetMsAt(midnight + 86_400_000, timeZone);
  const candidates = [midnight - before, midnight - after].sort((a, b) => a - b);
  const found = candidates.find((instant) => instant + offsetMsAt(instant, timeZone) === midnight);
  return withinCalendar(new Date(found ?? midnight - before));
}

/** The local date at an instant, YYYY-MM-DD. */
export function localDate(at: Date, timeZone: string): string {
  return new Date(at.getTime() + offsetMsAt(at.getTime(), timeZone)).toISOString().slice(0, 10);
}

/** The offset of local time from UTC in milliseconds. Throws RangeError for an unknown zone. */
export function offsetMsAt(instant: number, timeZone: string): number {
  const formatter = formatters.get(timeZone);
  const second = Math.floor(instant / 1000) * 1000;
  const part: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
  for (const { type, value } of formatter.formatToParts(second)) part[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second: seconds = 0 } = part;
  // Date.UTC would map the years 0 to 99 to the twentieth century.
  const date = new Date(0).setUTCFullYear(year, month - 1, day);
  return date + Date.UTC(1970, 0, 1, hour, minute, seconds) - second;
}
