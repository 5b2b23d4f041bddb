import { startOfDay } from '@phds/catalog/local-time';
import { Refused } from '../ingest/importer.ts';

/** The precision of a FHIR dateTime. */
export type Precision = 'year' | 'month' | 'day' | 'instant';

export interface FhirTime {
  /** Start of the known period. */
  readonly at: Date;
  readonly precision: Precision;
}

const DATE_TIME =
  /^(\d{4})(?:-(\d{2})(?:-(\d{2})(?:T(\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?(Z|[+-]\d{2}:\d{2})?)?)?)?$/;

/**
 * Parses a FHIR date, dateTime or instant (R4, datatypes); dates are days in the zone. Throws Refused for anything else, including dates that do not exist and
 * times of day without an offset, which are ambiguous.
 */
export function parseFhirTime(text: string, timeZone = 'UTC'): FhirTime {
  const match = DATE_TIME.exec(text);
  if (match === null) throw new Refused('date is not a FHIR date');
  const [, year = '', month, day, hours, minutes, seconds = '00', fraction = '', zone] = match;
  const date = `${year}-${month ?? '01'}-${day ?? '01'}`;
  checkCalendar(date);
  if (month === undefined) return { at: startOfDay(date, timeZone), precision: 'year' };
  if (day === undefined) return { at: startOfDay(date, timeZone), precision: 'month' };
  if (hours === undefined) return { at: startOfDay(date, timeZone), precision: 'day' };
  if (zone === undefined) throw new Refused('time has no offset');
  const milliseconds = fraction.slice(0, 3).padEnd(3, '0');
  const at = new Date(`${date}T${hours}:${minutes}:${seconds}.${milliseconds}${zone}`);
  if (Number.isNaN(at.getTime()) || hours === '24') throw new Refused('date is not a FHIR date');
  return { at, precision: 'instant' };
}

function checkCalendar(date: string): void {
  const midnight = new Date(`${date}T00:00:00Z`);
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== date) {
    throw new Refused('date is not in the calendar');
  }
}

/** The time of a measurement: an instant, or the start of a day in the zone. Throws Refused if only month or year is known. */
export function parseMoment(text: string, timeZone: string): Date {
  const { at, precision } = parseFhirTime(text, timeZone);
  if (precision === 'year' || precision === 'month') throw new Refused('date is too coarse for a reading');
  return at;
}

/** The date part as written (`2019`, `2019-05`, `2019-05-04`), for `sinceDate`. Throws Refused like parseFhirTime. */
export function parsePartialDate(text: string): string {
  parseFhirTime(text);
  return text.slice(0, 10);
}

/** An instant with its offset, as RFC 3339 with at most milliseconds. Throws Refused unless it is a complete instant. */
export function parseZonedInstant(text: string): string {
  const { precision } = parseFhirTime(text);
  if (precision !== 'instant') throw new Refused('start is not an instant');
  const [, minutes = '', seconds = ':00', fraction = '', zone = ''] =
    /^(.{16})(:\d{2})?(?:\.(\d{1,9}))?(.*)$/.exec(text) ?? [];
  return `${minutes}${seconds}${fraction === '' ? '' : `.${fraction.slice(0, 3)}`}${zone}`;
}
