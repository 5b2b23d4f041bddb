import { offsetMsAt } from '@phds/catalog/local-time';
import { ZoneCache } from '@phds/catalog/time-zones';

/** The offset of local time from UTC at an instant, in whole minutes. Throws RangeError for an unknown zone. */
export function offsetMinutesAt(at: Date, timeZone: string): number {
  return Math.trunc(offsetMsAt(at.getTime(), timeZone) / 60_000);
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
