import { Temporal } from 'temporal-polyfill';

/** Local calendar days as whole numbers: days since 1970-01-01. Instants are milliseconds since the epoch. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** YYYY-MM-DD of a day. */
export function formatDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** The day that YYYY-MM-DD names; null when the calendar has no such date. */
export function parseDay(text: string): number | null {
  const midnight = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : Number.NaN;
  if (Number.isNaN(midnight)) return null;
  const day = midnight / DAY_MS;
  return formatDay(day) === text ? day : null;
}

/** 0 is Sunday. */
export function weekdayOf(day: number): number {
  return (((day + 4) % 7) + 7) % 7;
}

/** The local day that an instant falls on. */
export function dayOf(instant: number, timeZone: string): number {
  return Math.floor((instant + offsetAt(instant, timeZone)) / DAY_MS);
}

/** The first instant of a day. Where the clock skips midnight that is one o'clock, where it repeats it the earlier one. */
export function startOfDay(day: number, timeZone: string): number {
  return toInstant(day * DAY_MS, timeZone);
}

/** The instant that a wall clock shows, given as if it were UTC; inside a gap, as much later as the gap is wide. */
export function toInstant(wall: number, timeZone: string): number {
  return toZoned(wall, 'UTC').toPlainDateTime().toZonedDateTime(timeZone).epochMilliseconds;
}

/** Milliseconds that a zone is ahead of UTC at an instant. */
export function offsetAt(instant: number, timeZone: string): number {
  return toZoned(instant, timeZone).offsetNanoseconds / 1e6;
}

/** RFC 3339 to the second, with the zone's offset at that instant. */
export function formatInstant(instant: number, timeZone: string): string {
  return toZoned(instant, timeZone).toString({ smallestUnit: 'second', timeZoneName: 'never' });
}

function toZoned(instant: number, timeZone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone);
}
