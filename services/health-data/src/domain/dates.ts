import { type Timestamp, timestampDate } from '@bufbuild/protobuf/wkt';
import { isDate } from '@phds/catalog/instants';

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
