import { findInstant, isDate } from '../instants.ts';

/** The start of a resource's time is limited by the first two, its end by the others. Unix milliseconds; null for no limit. */
export interface TimeBounds {
  /** Inclusive. */
  readonly startFrom: number | null;
  /** Exclusive. */
  readonly startBefore: number | null;
  /** Inclusive. */
  readonly endFrom: number | null;
  /** Exclusive. */
  readonly endBefore: number | null;
}

/** Bounds that everything is in. */
export const ANY_TIME: TimeBounds = { startFrom: null, startBefore: null, endFrom: null, endBefore: null };

/** A time with the width of its precision, in Unix milliseconds; `end` is exclusive. */
interface Span {
  readonly start: number;
  readonly end: number;
}

const VALUE = /^(eq|ge|gt|le|lt|sa|eb)?(\d.*)$/;
const MINUTE = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(Z|[ +-]\d{2}:\d{2})$/;
const WITHOUT_OFFSET = /T\d{2}:\d{2}(:\d{2}(\.\d+)?)?$/;

/**
 * The bounds of a date parameter with its prefix (R4, Search, section 3.1.1.4.9 and 3.1.1.4.10): a year, a month, a day (of UTC) or an
 * instant (of UTC without an offset). Null for anything else.
 */
export function findTimeBounds(text: string): TimeBounds | null {
  const [, prefix = 'eq', time = ''] = VALUE.exec(text) ?? [];
  const span = findSpan(time);
  if (span === null) return null;
  const { start, end } = span;
  switch (prefix) {
    case 'ge':
      return { ...ANY_TIME, endFrom: start };
    case 'gt':
      return { ...ANY_TIME, endFrom: end };
    case 'le':
      return { ...ANY_TIME, startBefore: end };
    case 'lt':
      return { ...ANY_TIME, startBefore: start };
    case 'sa':
      return { ...ANY_TIME, startFrom: end };
    case 'eb':
      return { ...ANY_TIME, endBefore: start };
    default:
      return { ...ANY_TIME, startFrom: start, endBefore: end };
  }
}

/** The time that a partial date, a date or an instant stands for; null for anything else. */
export function findSpan(text: string): Span | null {
  if (/^\d{4}$/.test(text)) return isDate(`${text}-01-01`) ? monthsFrom(text, '01', 12) : null;
  if (/^\d{4}-\d{2}$/.test(text))
    return isDate(`${text}-01`) ? monthsFrom(text.slice(0, 4), text.slice(5), 1) : null;
  if (isDate(text)) return spanOf(Date.parse(text), 86_400_000);
  const time = WITHOUT_OFFSET.test(text) ? `${text}Z` : text;
  const [, minute, zone] = MINUTE.exec(time) ?? [];
  const instant = findInstant(minute === undefined ? time : `${minute}:00${zone}`);
  if (instant === null) return null;
  if (minute !== undefined) return spanOf(instant.at.getTime(), 60_000);
  return spanOf(instant.at.getTime(), text.includes('.') ? 1 : 1_000);
}

function monthsFrom(year: string, month: string, count: number): Span {
  const start = Date.parse(`${year}-${month}-01`);
  const end = new Date(start);
  end.setUTCMonth(end.getUTCMonth() + count);
  return { start, end: end.getTime() };
}

function spanOf(start: number, width: number): Span {
  return { start, end: start + width };
}

/** The bounds that both require. */
export function both(one: TimeBounds, other: TimeBounds): TimeBounds {
  return {
    startFrom: pick(Math.max, one.startFrom, other.startFrom),
    startBefore: pick(Math.min, one.startBefore, other.startBefore),
    endFrom: pick(Math.max, one.endFrom, other.endFrom),
    endBefore: pick(Math.min, one.endBefore, other.endBefore),
  };
}

function pick(choose: (a: number, b: number) => number, a: number | null, b: number | null): number | null {
  return a === null || b === null ? (a ?? b) : choose(a, b);
}

/** Whether a time is in the bounds; `end` is inclusive and equals `start` for an instant. */
export function isWithin({ start, end }: { start: number; end: number }, bounds: TimeBounds): boolean {
  const { startFrom, startBefore, endFrom, endBefore } = bounds;
  return (
    (startFrom === null || start >= startFrom) &&
    (startBefore === null || start < startBefore) &&
    (endFrom === null || end >= endFrom) &&
    (endBefore === null || end < endBefore)
  );
}
