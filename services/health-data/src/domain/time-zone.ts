import { offsetMsAt } from '@phds/catalog/local-time';

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
