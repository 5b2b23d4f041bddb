import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { isDate } from '@phds/catalog/instants';
import { offsetMsAt } from '@phds/catalog/local-time';

export function toDate(timestamp: Timestamp | undefined): Date | null {
  return timestamp === undefined ? null : timestampDate(timestamp);
}

/** The UTC date of an instant, YYYY-MM-DD; empty for an invalid one. */
export function toDateText(at: Date): string {
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, 10);
}

/** Midnight UTC at the beginning of a date. */
export function midnightUtc(date: string): Date {
  return new Date(`${date}T00:00:00Z`);
}

/** The date a number of days later (or earlier if negative). */
export function addDays(date: string, days: number): string {
  const midnight = midnightUtc(date);
  midnight.setUTCDate(midnight.getUTCDate() + days);
  return toDateText(midnight);
}

/** The first day of a possibly partial date (`2019`, `2019-05`); null for an invalid one. */
export function findFirstDay(partialDate: string): string | null {
  const full = `${partialDate}-01-01`.slice(0, 10);
  const lengthFits = partialDate.length === 4 || partialDate.length === 7 || partialDate.length === 10;
  return lengthFits && isDate(full) ? full : null;
}

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
