import { findTimeZone } from '@phds/catalog/time-zones';
import type { ExportElement } from './export-parser.ts';

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const LENGTH = '2019-07-19 10:36:11 -0700'.length;

/**
 * Parses the time format of Apple's export, `2019-07-19 10:36:11 -0700`, to Unix milliseconds. NaN for anything else, including
 * dates that do not exist. The offset is the phone's at export time, but the instant is correct.
 */
export function parseExportDate(text: string): number {
  if (text.length !== LENGTH || !hasSeparators(text)) return Number.NaN;
  const month = numberAt(text, 5, 2);
  const day = numberAt(text, 8, 2);
  const year = numberAt(text, 0, 4);
  if (!(day >= 1 && day <= daysOf(year, month))) return Number.NaN;
  const [hours, minutes, seconds] = [numberAt(text, 11, 2), numberAt(text, 14, 2), numberAt(text, 17, 2)];
  const offset = offsetMinutesOf(text);
  if (!(hours < 24 && minutes < 60 && seconds < 60)) return Number.NaN;
  // Date.UTC maps the years 0 to 99 to the twentieth century.
  if (year < 100) return Number.NaN;
  return Date.UTC(year, month - 1, day, hours, minutes - offset, seconds);
}

/** Whether a text is an existing date such as `1990-05-20`. */
export function isCalendarDate(text: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(parseExportDate(`${text} 00:00:00 +0000`));
}

function hasSeparators(text: string): boolean {
  return (
    text[4] === '-' &&
    text[7] === '-' &&
    text[10] === ' ' &&
    text[13] === ':' &&
    text[16] === ':' &&
    text[19] === ' '
  );
}

function offsetMinutesOf(text: string): number {
  const sign = text[20];
  const hours = numberAt(text, 21, 2);
  const minutes = numberAt(text, 23, 2);
  if ((sign !== '+' && sign !== '-') || !(hours < 24 && minutes < 60)) return Number.NaN;
  return (sign === '-' ? -1 : 1) * (hours * 60 + minutes);
}

/** The number formed by `length` decimal digits; NaN if there are other characters. */
function numberAt(text: string, start: number, length: number): number {
  let number = 0;
  for (let index = start; index < start + length; index += 1) {
    const digit = text.charCodeAt(index) - 48;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}

function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0);
}

const DAY_MS = 86_400_000;

/** Finds the person's time zone: that of the newest sample with a zone. */
export class NewestTimeZone {
  readonly #latest: number;
  #at = Number.NEGATIVE_INFINITY;
  #zone: string | null = null;

  /** Samples dated after `now` (Unix milliseconds) are ignored. */
  constructor(now: number) {
    this.#latest = now + DAY_MS;
  }

  /** An IANA zone; null if no sample has one. */
  get zone(): string | null {
    return this.#zone;
  }

  add({ timeZone, attributes }: ExportElement): void {
    if (timeZone === '') return;
    const at = parseExportDate(attributes['startDate'] ?? '');
    if (!(at > this.#at && at < this.#latest)) return;
    const zone = findTimeZone(timeZone);
    if (zone === null) return;
    this.#at = at;
    this.#zone = zone;
  }
}
