import { Temporal } from 'temporal-polyfill';

/** Local calendar days as days since 1970-01-01, and instants as milliseconds since the epoch. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** Formats a day as YYYY-MM-DD. */
export function formatDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** 0 is Sunday. */
export function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

export function isWeekend(day: number): boolean {
  return [0, 6].includes(weekdayOf(day));
}

/** The local day of an instant. */
export function dayOf(instant: number, timeZone: string): number {
  return Math.floor((instant + toZoned(instant, timeZone).offsetNanoseconds / 1e6) / DAY_MS);
}

/** The instant of a time of a local day, in minutes after midnight. A time in a gap is moved forward by the length of the gap. */
export function toInstant(day: number, minute: number, timeZone: string): number {
  const wall = day * DAY_MS + Math.round(minute) * MINUTE_MS;
  return toZoned(wall, 'UTC').toPlainDateTime().toZonedDateTime(timeZone).epochMilliseconds;
}

/** RFC 3339 to the second, with the zone's offset at that instant. */
export function formatInstant(instant: number, timeZone: string): string {
  return toZoned(instant, timeZone).toString({ smallestUnit: 'second', timeZoneName: 'never' });
}

function toZoned(instant: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone);
}
