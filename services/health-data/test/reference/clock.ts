import { Temporal } from 'temporal-polyfill';

// Time zones by Temporal, the coming standard of the language: nothing here is shared with what it is the measure of.

const HOUR = 3_600_000;

/** A stretch of instants in Unix milliseconds, `end` exclusive, with its name in order of time. */
export interface Bucket {
  readonly start: number;
  readonly end: number;
}

/** The calendar date at an instant, YYYY-MM-DD. */
export function dateAt(instant: number, zone: string): string {
  return localAt(instant, zone).date;
}

/** The first instant of a date; of a date that a zone skipped, the instant at which it was skipped. */
export function startOfDate(date: string, zone: string): number {
  return remembered(starts, `${zone} ${date}`, () => {
    return Temporal.PlainDate.from(date).toZonedDateTime(zone).epochMilliseconds;
  });
}

/** The day that a date is, until the next begins. */
export function dayOf(date: string, zone: string): Bucket {
  const next = Temporal.PlainDate.from(date).add({ days: 1 }).toString();
  return { start: startOfDate(date, zone), end: startOfDate(next, zone) };
}

/**
 * The hour that an instant lies in: from where the clock shows a full hour, an hour long; where the clock is moved by a part
 * of an hour, it is cut there. An autumn night has two that go by the same name.
 */
export function hourAt(instant: number, zone: string): Bucket {
  return localAt(instant, zone).hour;
}

/** RFC 3339 with the zone's offset, to the second or to the millisecond if there are any. */
export function toLocalText(instant: number, zone: string): string {
  const smallestUnit = instant % 1000 === 0 ? 'second' : 'millisecond';
  return toZoned(instant, zone).toString({ smallestUnit, timeZoneName: 'never' });
}

/** The instants from which a zone's clock differed, between two years. */
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

/** Cuts a bucket at the changes of the clock by a part of an hour, and keeps the piece with the instant. */
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

// Temporal is exact and slow; a history asks about the same instants again and again.
const MAX_REMEMBERED = 50_000;

function remembered<T>(memory: Map<string, T>, key: string, compute: () => T): T {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const value = compute();
  if (memory.size >= MAX_REMEMBERED) memory.clear();
  memory.set(key, value);
  return value;
}
