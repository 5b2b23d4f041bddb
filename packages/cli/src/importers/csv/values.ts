import { startOfDay } from '@phds/catalog/local-time';
import { Refused } from '../ingest/importer.ts';

const TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.(\d{1,9}))?)? ?(Z|[+-]\d\d:?\d\d)?)?$/i;
/** Date, time of day, seconds and fraction, offset. */
const ZONED = /^(.{10})[T ](.{5})(?::(\d\d)(?:\.(\d{1,9}))?)? ?(Z|[+-]\d\d):?(\d\d)?$/i;
const MINUTE_MS = 60_000;

/**
 * Parses an RFC 3339 time to Unix milliseconds. Also accepts a space instead of the `T`, missing seconds, and a date alone
 * (the start of that day in the zone). Throws Refused for anything else, including a time of day without an offset, which is ambiguous.
 */
export function parseTime(field: string, text: string, timeZone = 'UTC'): number {
  const match = TIME.exec(text);
  if (match === null) throw new Refused(`${field} is not a time such as 2024-05-04T08:00:00Z`);
  const [, year, month, day, hour = '0', minute = '0', second = '0', fraction = '', zone] = match;
  if (match[4] !== undefined && zone === undefined)
    throw new Refused(`${field} has no offset such as Z or +02:00`);
  const days = daysIn(Number(year), Number(month));
  const isTime = Number(hour) < 24 && Number(minute) < 60 && Number(second) < 60;
  if (Number(day) < 1 || Number(day) > days || !isTime) throw new Refused(`${field} is not in the calendar`);
  if (match[4] === undefined) return startOfDay(`${year}-${month}-${day}`, timeZone).getTime();
  const milliseconds = Number(fraction.slice(0, 3).padEnd(3, '0'));
  const [y, m, d] = [Number(year), Number(month) - 1, Number(day)];
  const local = Date.UTC(y, m, d, Number(hour), Number(minute), Number(second), milliseconds);
  return local - offsetMinutes(field, zone) * MINUTE_MS;
}

/** Number of days in a month, 0 for an invalid month. Years before 1000 are invalid in a health record. */
function daysIn(year: number, month: number): number {
  if (year < 1000 || month < 1 || month > 12) return 0;
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}

function offsetMinutes(field: string, zone = 'Z'): number {
  if (zone === 'Z' || zone === 'z') return 0;
  const [hours, minutes] = [Number(zone.slice(1, 3)), Number(zone.slice(-2))];
  if (hours > 23 || minutes > 59) throw new Refused(`${field} has an offset that no clock has`);
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes);
}

/** Formats the time as RFC 3339 with its original offset. Throws Refused like parseTime, and for a date alone. */
export function parseZonedTime(field: string, text: string): string {
  parseTime(field, text);
  const [, date, minutes, seconds = '00', fraction = '', hours = '', rest] = ZONED.exec(text) ?? [];
  if (date === undefined) throw new Refused(`${field} has no time of day`);
  const offset = rest === undefined ? 'Z' : `${hours}:${rest}`;
  return `${date}T${minutes}:${seconds}${fraction === '' ? '' : `.${fraction.slice(0, 3)}`}${offset}`;
}

const NUMBER = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d{1,3})?$/i;
const COMMA_NUMBER = /^[+-]?\d+,\d+$/;
const THOUSANDS = /^[+-]?\d{1,3},\d{3}$/;

/**
 * Parses a decimal number. A comma is a decimal mark if it cannot be the delimiter, as in many spreadsheets, but not with exactly
 * three digits after it, which may mean thousands. Throws Refused.
 */
export function parseNumber(field: string, text: string, delimiter: string): number {
  if (delimiter !== ',' && COMMA_NUMBER.test(text)) {
    if (THOUSANDS.test(text)) throw new Refused(`${field} has a comma that may mean thousands or decimals`);
    return Number(text.replace(',', '.'));
  }
  const value = NUMBER.test(text) ? Number(text) : Number.NaN;
  if (!Number.isFinite(value)) throw new Refused(`${field} is not a number`);
  return value;
}

/** A text of at most `maxLength` UTF-16 units. Throws Refused for a longer one, which the rpc would refuse anyway. */
export function parseText(field: string, text: string, maxLength: number): string {
  if (text.length > maxLength) throw new Refused(`${field} is longer than ${maxLength} characters`);
  return text;
}
