// Dates and instants as requests and imports write them.

const DATE = /^(?!0000)\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[ +-]\d{2}:\d{2})$/;

/** An RFC 3339 instant as it was written: the moment, and its offset from UTC. */
interface ZonedInstant {
  readonly at: Date;
  readonly offsetMinutes: number;
}

/** One end of a time window: a calendar date, or an instant. */
export interface TimeBound {
  /** `YYYY-MM-DD`, or RFC 3339 with its offset. */
  readonly text: string;
  /** Null for an instant. */
  readonly date: string | null;
  /** The instant; of a date, its midnight UTC. */
  readonly at: Date;
}

/** `from` is inclusive, `to` exclusive; null is unbounded. */
export interface TimeWindow {
  readonly from: TimeBound | null;
  readonly to: TimeBound | null;
}

/** Whether a text is a date of the calendar, YYYY-MM-DD. */
export function isDate(text: string): boolean {
  if (!DATE.test(text)) return false;
  const midnight = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(text);
}

/**
 * Reads RFC 3339; null for anything else. A `+` that became a space in a query string is accepted. Fractions finer than a
 * millisecond are rounded up, so that an exclusive bound never includes its own instant.
 */
export function findInstant(text: string): ZonedInstant | null {
  const match = INSTANT.exec(text);
  if (match === null) return null;
  const [, date = '', time = '', fraction = '', zone = ''] = match;
  if (!isDate(date)) return null;
  const offsetMinutes = findOffset(zone);
  const local = Date.parse(`${date}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}Z`);
  if (offsetMinutes === null || Number.isNaN(local) || time.startsWith('24')) return null;
  const finer = /[1-9]/.test(fraction.slice(3)) ? 1 : 0;
  return { at: new Date(local + finer - offsetMinutes * 60_000), offsetMinutes };
}

function findOffset(zone: string): number | null {
  if (zone === 'Z' || zone === 'z') return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(4, 6));
  if (hours > 23 || minutes > 59) return null;
  const total = hours * 60 + minutes;
  return zone.startsWith('-') ? -total : total;
}

/** Reads a date or an RFC 3339 instant; null for anything else. */
export function findTimeBound(text: string): TimeBound | null {
  if (isDate(text)) return { text, date: text, at: new Date(`${text}T00:00:00Z`) };
  const instant = findInstant(text);
  return instant && { text: text.replace(' ', '+'), date: null, at: withinCalendar(instant.at) };
}

const FIRST = new Date('0001-01-01T00:00:00.000Z');
const LAST = new Date('9999-12-31T00:00:00.000Z');

/**
 * The instant, limited to the years 1 to 9999 in UTC. An offset can move an instant out of them; RFC 3339 and Postgres cannot
 * represent it there.
 */
export function withinCalendar(at: Date): Date {
  if (at < FIRST) return FIRST;
  return at > LAST ? LAST : at;
}

/** Whether one bound is a date and the other an instant. */
export function isMixed({ from, to }: TimeWindow): boolean {
  return from !== null && to !== null && (from.date === null) !== (to.date === null);
}

/**
 * Whether a window ends at its beginning or before it, a date being midnight UTC. False for a date and an instant where dates are
 * local: that depends on the time zone.
 */
export function isInverted(window: TimeWindow, datesAreLocal: boolean): boolean {
  const { from, to } = window;
  if (from === null || to === null || (datesAreLocal && isMixed(window))) return false;
  return from.at >= to.at;
}
