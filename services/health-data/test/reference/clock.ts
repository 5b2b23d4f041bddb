import { Temporal } from 'temporal-polyfill';

// Time zones by Temporal, independent of the code under test.

const HOUR = 3_600_000;

/** An interval in Unix milliseconds, `end` exclusive. */
export interface Bucket {
  readonly start: number;
  readonly end: number;
}

/** The calendar date at an instant, YYYY-MM-DD. */
export function dateAt(instant: number, zone: string): string {
  return localAt(instant, zone).date;
}

/** The first instant of a date; for a date that a zone skipped, the instant of the skip. */
export function startOfDate(date: string, zone: string): number {
  return remembered(starts, `${zone} ${date}`, () => {
    return Temporal.PlainDate.from(date).toZonedDateTime(zone).epochMilliseconds;
  });
}

/** The day with this date. */
export function dayOf(date: string, zone: string): Bucket {
  const next = Temporal.PlainDate.from(date).add({ days: 1 }).toString();
  return { start: startOfDate(date, zone), end: startOfDate(next, zone) };
}

/**
 * The hour that contains an instant: it starts where the clock shows a full hour and lasts an hour, but is cut where the clock
 * moves by part of an hour. An autumn night has two hours with the same name.
 */
export function hourAt(instant: number, zone: string): Bucket {
  return localAt(instant, zone).hour;
}

/** RFC 3339 with the zone's offset, with seconds, or milliseconds if they are not zero. */
export function toLocalText(instant: number, zone: string): string {
  const smallestUnit = instant % 1000 === 0 ? 'second' : 'millisecond';
  return toZoned(instant, zone).toString({ smallestUnit, timeZoneName: 'never' });
}

/** The instants at which a zone's clock changed, between two years. */
export function changesOf(zone: string, fromYear: number, toYear: number): number[] {
  const changes: number[] = [];
  let at: Temporal.ZonedDateTime | null = Temporal.ZonedDateTime.from(`${fromYear}-01-01T00:00[${zone}]`);
  while (at !== null && at.year < toYear) {
    at = at.getTimeZoneTransition('next');
    if (at !== null) changes.push(at.epochMilliseconds);
  }
  return changes;
}

interface Local {
  readonly date: string;
  readonly hour: Bucket;
}

const locals = new Map<string, Local>();
const starts = new Map<string, number>();

function localAt(instant: number, zone: string): Local {
  return remembered(locals, `${zone} ${instant}`, () => {
    const zoned = toZoned(instant, zone);
    const { minute, second, millisecond } = zoned;
    const start = instant - ((minute * 60 + second) * 1000 + millisecond);
    return {
      date: zoned.toPlainDate().toString(),
      hour: cut({ start, end: start + HOUR }, instant, zone),
    };
  });
}

/** Cuts a bucket at clock changes by part of an hour, and returns the part with the instant. */
function cut({ start, end }: Bucket, instant: number, zone: string): Bucket {
  const pieces = [start, ...partialChangesOf(zone, start, end), end];
  const next = pieces.findIndex((piece) => piece > instant);
  return { start: pieces[next - 1] ?? start, end: pieces[next] ?? end };
}

function partialChangesOf(zone: string, start: number, end: number): number[] {
  const change = toZoned(start, zone).getTimeZoneTransition('next');
  if (change === null || change.epochMilliseconds >= end) return [];
  const before = change.subtract({ nanoseconds: 1 }).offsetNanoseconds;
  const moved = (change.offsetNanoseconds - before) / 1_000_000;
  return moved % HOUR === 0 ? [] : [change.epochMilliseconds];
}

function toZoned(instant: number, zone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone);
}

// Temporal is exact but slow, and a history uses the same instants repeatedly.
const MAX_REMEMBERED = 50_000;

function remembered<T>(memory: Map<string, T>, key: string, compute: () => T): T {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const value = compute();
  if (memory.size >= MAX_REMEMBERED) memory.clear();
  memory.set(key, value);
  return value;
}
