const DATE = /^(?!0000)\d{4}-\d{2}-\d{2}$/;
const INSTANT = /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(?:\.(\d{1,9}))?([Zz]|[ +-]\d{2}:\d{2})$/;

/** An RFC 3339 instant as it was written: the moment, and the offset it was told in. */
export interface ZonedInstant {
  readonly at: Date;
  readonly offsetMinutes: number;
}

/** Whether a text is a date of the calendar, YYYY-MM-DD. */
export function isDate(text: string): boolean {
  return DATE.test(text) && toDateText(new Date(`${text}T00:00:00Z`)) === text;
}

const FIRST = new Date('0001-01-01T00:00:00.000Z');
const LAST = new Date('9999-12-31T00:00:00.000Z');

/**
 * The instant, or the nearest from the calendar's first midnight to its last, in UTC: an offset moves the first and the
 * last days out of its years, where neither RFC 3339 nor Postgres follows. No record is as old or as far ahead.
 */
export function withinCalendar(at: Date): Date {
  if (at < FIRST) return FIRST;
  return at > LAST ? LAST : at;
}

/** The UTC calendar date of an instant, YYYY-MM-DD; empty for an invalid one. */
export function toDateText(at: Date): string {
  return Number.isNaN(at.getTime()) ? '' : at.toISOString().slice(0, 10);
}

/** The date so many days later, or earlier for a negative number. */
export function addDays(date: string, days: number): string {
  const midnight = new Date(`${date}T00:00:00Z`);
  midnight.setUTCDate(midnight.getUTCDate() + days);
  return toDateText(midnight);
}

/**
 * Reads RFC 3339; null for anything else. A `+` that became a space on its way through a query string is understood.
 * What is finer than a millisecond rounds up, so that a bound never includes what it excludes.
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

/** The first day that a date, possibly partial (`2019`, `2019-05`), may mean; null when it is no date. */
export function findFirstDay(partialDate: string): string | null {
  const full = `${partialDate}-01-01`.slice(0, 10);
  const lengthFits = partialDate.length === 4 || partialDate.length === 7 || partialDate.length === 10;
  return lengthFits && isDate(full) ? full : null;
}
