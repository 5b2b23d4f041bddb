import { withinCalendar } from '@phds/catalog/instants';
import { ZoneCache } from './zone-cache.ts';

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

/** The offset of local time from UTC at an instant, in whole minutes. Throws RangeError for an unknown zone. */
export function offsetMinutesAt(at: Date, timeZone: string): number {
  return Math.trunc(offsetMsAt(at.getTime(), timeZone) / 60_000);
}

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

/** RFC 3339 in local time with its offset: `2025-03-30T00:00:00+01:00`; with milliseconds only if they are not zero. */
export function formatWithOffset(at: Date, offsetMinutes: number): string {
  const text = new Date(at.getTime() + offsetMinutes * 60_000).toISOString();
  const local = text.slice(0, at.getUTCMilliseconds() === 0 ? 19 : 23);
  const minutes = Math.abs(offsetMinutes);
  const sign = offsetMinutes < 0 ? '-' : '+';
  return `${local}${sign}${twoDigits(Math.trunc(minutes / 60))}:${twoDigits(minutes % 60)}`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, '0');
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

/** Hours of zones are compared from this time on. Before, many places used their own local time. */
export const SAME_HOURS_SINCE = new Date('1970-01-01T00:00:00Z');

const HOUR_SECONDS = 3_600;
const MONTH_MS = 30 * 24 * HOUR_SECONDS * 1000;
const LAST_COMPARED = Date.UTC(2100, 0, 1);

// The part of the offset beyond whole hours, as a text of its changes. Some offsets lasted less than 90 days
// (America/Santo_Domingo, 1972), so sampling by month is fine enough.
const minutesByZone = new ZoneCache(listMinutes);

/** Whether hours start at the same instants in two zones, from SAME_HOURS_SINCE on. */
export function haveSameHours(one: string, other: string): boolean {
  return minutesByZone.get(one) === minutesByZone.get(other);
}

// `GMT`, `GMT+05:30`, `GMT-00:44:30`.
const OFFSET = /GMT(?:([+-])\d\d:(\d\d)(?::(\d\d))?)?$/;

/** For about 1,600 offsets. Their own format takes a tenth of the time of `offsetMsAt`. */
function listMinutes(timeZone: string): string {
  const formatter = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    year: 'numeric',
    timeZoneName: 'longOffset',
  });
  const changes: string[] = [];
  let last = Number.NaN;
  for (let at = SAME_HOURS_SINCE.getTime(); at < LAST_COMPARED; at += MONTH_MS) {
    const [, sign, minutes = '0', seconds = '0'] = OFFSET.exec(formatter.format(at)) ?? [];
    const ahead = Number(minutes) * 60 + Number(seconds);
    const beyond = sign === '-' ? (HOUR_SECONDS - ahead) % HOUR_SECONDS : ahead;
    if (beyond !== last) changes.push(`${at} ${beyond}`);
    last = beyond;
  }
  return changes.join();
}
