import { Temporal } from 'temporal-polyfill';

/** Local calendar days as days since 1970-01-01, and instants as milliseconds since the epoch. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Formats a day as YYYY-MM-DD. */
export function formatDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** Parses YYYY-MM-DD; null when the date does not exist. */
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

/** The local day of an instant. */
export function dayOf(instant: number, timeZone: string): number {
  return Math.floor((instant + offsetAt(instant, timeZone)) / DAY_MS);
}

/** The first instant of a day: 01:00 where the clock skips midnight, the earlier midnight where it is repeated. */
export function startOfDay(day: number, timeZone: string): number {
  return toInstant(day * DAY_MS, timeZone);
}

/** The instant of a wall clock time, given as if it were UTC. A time in a gap is moved forward by the length of the gap. */
export function toInstant(wall: number, timeZone: string): number {
  return toZoned(wall, 'UTC').toPlainDateTime().toZonedDateTime(timeZone).epochMilliseconds;
}

/** A zone's offset from UTC at an instant, in milliseconds. */
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
