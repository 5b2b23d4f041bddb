import { startOfDay } from '@phds/catalog/local-time';
import { Refused } from './importer.ts';

/** A date or time as a file states it. */
interface StatedTime {
  /** Unix milliseconds: the start of the known period. */
  readonly at: number;
  readonly precision: 'year' | 'month' | 'day' | 'instant';
}

/** Year, month, day, time of day, seconds and fraction, offset. */
const TIME =
  /^(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)? ?(Z|[+-]\d\d:?\d\d)?)?)?)?$/i;

/**
 * Reads the dates of all formats: RFC 3339; FHIR's dateTime (R4, datatypes), which may be a year or a month; and that of Apple's export,
 * `2019-07-19 10:36:11 -0700`. Dates without a time are days in the zone (IANA). Returns what is wrong with anything else, including dates that
 * do not exist, years before 1000, and a time of day without an offset, which is ambiguous.
 */
function findTime(text: string, timeZone = 'UTC'): StatedTime | string {
  const match = TIME.exec(text);
  if (match === null) return 'is not a time such as 2024-05-04T08:00:00Z';
  const [, year, month = '01', day = '01', clock = '00:00', second = '00', fraction = '', offset] = match;
  const precision = PRECISIONS[text.length] ?? 'instant';
  if (precision === 'instant' && offset === undefined) return 'has no offset such as Z or +02:00';
  const isDay = Number(day) >= 1 && Number(day) <= daysIn(Number(year), Number(month));
  const [hour, minute] = [Number(clock.slice(0, 2)), Number(clock.slice(3))];
  if (!isDay || hour > 23 || minute > 59 || Number(second) > 59) return 'is not in the calendar';
  if (precision !== 'instant')
    return { at: startOfDay(`${year}-${month}-${day}`, timeZone).getTime(), precision };
  const ahead = minutesOf(offset ?? '');
  if (Number.isNaN(ahead)) return 'has an offset that no clock has';
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const [y, m, d, s] = [Number(year), Number(month) - 1, Number(day), Number(second)];
  return { at: Date.UTC(y, m, d, hour, minute - ahead, s, milliseconds), precision };
}

/** By the length of the text. */
const PRECISIONS: { readonly [length: number]: StatedTime['precision'] } = {
  4: 'year',
  7: 'month',
  10: 'day',
};

/** Of an offset; NaN for one that no clock has. */
function minutesOf(offset: string): number {
  if (offset.length === 1) return 0;
  const [hours, minutes] = [Number(offset.slice(1, 3)), Number(offset.slice(-2))];
  if (hours > 23 || minutes > 59) return Number.NaN;
  return (offset.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** Number of days in a month, 0 for an invalid month. Years before 1000 are invalid in a health record. */
function daysIn(year: number, month: number): number {
  if (year < 1000 || month < 1 || month > 12) return 0;
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

/** The time with the precision that it is stated with. Throws Refused, with the name of the field. */
export function parseStatedTime(field: string, text: string, timeZone?: string): StatedTime {
  const found = findTime(text, timeZone);
  if (typeof found === 'string') throw new Refused(`${field} ${found}`);
  return found;
}

/** An instant or the start of a day, in Unix milliseconds. Throws Refused also for a month and a year. */
export function parseTime(field: string, text: string, timeZone?: string): number {
  const { at, precision } = parseStatedTime(field, text, timeZone);
  if (precision === 'year' || precision === 'month') throw new Refused(`${field} is only a ${precision}`);
  return at;
}

/** Unix milliseconds; NaN for what is no instant. */
export function findInstant(text: string): number {
  const found = findTime(text);
  return typeof found === 'string' || found.precision !== 'instant' ? Number.NaN : found.at;
}

/** Whether a text is an existing date such as `1990-05-20`. */
export function isCalendarDate(text: string): boolean {
  return text.length === '1990-05-20'.length && typeof findTime(text) !== 'string';
}

/** An instant as RFC 3339 with its own offset, and at most milliseconds. Throws Refused for anything else. */
export function parseZonedTime(field: string, text: string): string {
  if (parseStatedTime(field, text).precision !== 'instant') throw new Refused(`${field} has no time of day`);
  const [, , , , clock, second = '00', fraction = '', offset = ''] = TIME.exec(text) ?? [];
  const zone = offset.length === 1 ? 'Z' : `${offset.slice(0, 3)}:${offset.slice(-2)}`;
  const part = fraction === '' ? '' : `.${fraction.slice(0, 3)}`;
  return `${text.slice(0, 10)}T${clock}:${second}${part}${zone}`;
}
