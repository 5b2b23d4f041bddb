/** Local calendar days as whole numbers: days since 1970-01-01. Instants are milliseconds since the epoch. */
export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
const QUARTER_MS = 900_000;
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
  const near = wall - offsetAt(wall, timeZone);
  const before = offsetAt(near - 12 * HOUR_MS, timeZone);
  const after = offsetAt(near + 12 * HOUR_MS, timeZone);
  if (before === after) return wall - before;
  if (offsetAt(wall - before, timeZone) === before) return wall - before;
  if (offsetAt(wall - after, timeZone) === after) return wall - after;
  return wall - before;
}

interface Zone {
  readonly format: Intl.DateTimeFormat;
  /** By quarter of an hour since the epoch: zones change their offset between two of them. */
  readonly offsets: Map<number, number>;
}

const zones = new Map<string, Zone>();
const KEPT_OFFSETS = 20_000;

/** Milliseconds that a zone is ahead of UTC at an instant. */
export function offsetAt(instant: number, timeZone: string): number {
  const zone = zones.get(timeZone) ?? openZone(timeZone);
  const quarter = Math.floor(instant / QUARTER_MS);
  const known = zone.offsets.get(quarter);
  if (known !== undefined) return known;
  const local = Date.parse(`${zone.format.format(quarter * QUARTER_MS).replace(' ', 'T')}Z`);
  const offset = local - quarter * QUARTER_MS;
  if (zone.offsets.size >= KEPT_OFFSETS) zone.offsets.clear();
  zone.offsets.set(quarter, offset);
  return offset;
}

function openZone(timeZone: string): Zone {
  // Sweden writes dates as ISO 8601 does.
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  const zone = { format, offsets: new Map<number, number>() };
  zones.set(timeZone, zone);
  return zone;
}

/** RFC 3339 to the second, with the zone's offset at that instant. */
export function formatInstant(instant: number, timeZone: string): string {
  const offset = offsetAt(instant, timeZone);
  const minutes = Math.abs(offset) / MINUTE_MS;
  const pad = (value: number) => String(value).padStart(2, '0');
  const sign = offset < 0 ? '-' : '+';
  const local = new Date(instant + offset).toISOString().slice(0, 19);
  return `${local}${sign}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}
