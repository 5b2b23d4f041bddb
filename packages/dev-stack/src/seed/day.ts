import type { MetricName } from '@phds/catalog/metrics';
import type { Person } from './person.ts';
import { createRandom, type Random } from './random.ts';

/** A reading to be ingested; its unit is that of its type. */
export interface SeedReading {
  readonly type: MetricName;
  readonly start: Date;
  readonly end: Date;
  readonly value: number;
  readonly source: string;
}

/** One calendar day of a person, in their time zone. */
export interface Day {
  readonly person: Person;
  /** YYYY-MM-DD. */
  readonly date: string;
  /** 0 is the oldest day, 1 the newest. */
  readonly progress: number;
  readonly isWeekend: boolean;
  /** 24, or 23 and 25 when the clock changes. */
  readonly hours: number;
  /** Minutes since midnight; may be negative (the evening before) or beyond the day. */
  at(minute: number): Date;
  /** Numbers of this day and topic alone: another topic's data does not change when this one's does. */
  random(topic: string): Random;
}

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The last `person.days` days up to the one that `now` falls on in the person's zone, oldest first. */
export function listDays(person: Person, now: Date): Day[] {
  const today = Date.parse(`${toLocalDate(now, person.timeZone)}T00:00:00Z`);
  return Array.from({ length: person.days }, (_, index) => {
    const utcMidnight = new Date(today - (person.days - 1 - index) * DAY_MS);
    return createDay(person, utcMidnight, index / Math.max(person.days - 1, 1));
  });
}

/** The calendar date of an instant in a zone, YYYY-MM-DD. */
export function toLocalDate(instant: Date, timeZone: string): string {
  // Sweden writes dates as ISO 8601 does.
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' }).format(instant);
}

function createDay(person: Person, utcMidnight: Date, progress: number): Day {
  const date = utcMidnight.toISOString().slice(0, 10);
  const midnight = findMidnight(utcMidnight.getTime(), person.timeZone);
  const nextMidnight = findMidnight(utcMidnight.getTime() + DAY_MS, person.timeZone);
  return {
    person,
    date,
    progress,
    isWeekend: [0, 6].includes(utcMidnight.getUTCDay()),
    hours: Math.round((nextMidnight - midnight) / HOUR_MS),
    at: (minute) => new Date(midnight + Math.round(minute * MINUTE_MS)),
    random: (topic) => createRandom(`${person.userId} ${date} ${topic}`),
  };
}

/** RFC 3339 with the zone's offset at that instant. */
export function toLocalTime(instant: Date, timeZone: string): string {
  const offsetMs = findOffsetMs(instant.getTime(), timeZone);
  const minutes = Math.abs(offsetMs) / MINUTE_MS;
  const pad = (value: number) => String(value).padStart(2, '0');
  const offset = `${offsetMs < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
  return new Date(instant.getTime() + offsetMs).toISOString().replace('.000Z', offset);
}

/** When the zone's day begins, given the same date's midnight in UTC. */
function findMidnight(utcMidnight: number, timeZone: string): number {
  const near = utcMidnight - findOffsetMs(utcMidnight, timeZone);
  return utcMidnight - findOffsetMs(near, timeZone);
}

function findOffsetMs(instant: number, timeZone: string): number {
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  return Date.parse(`${format.format(instant).replace(' ', 'T')}Z`) - Math.floor(instant / 1000) * 1000;
}

/** A reading at one moment. */
export function momentary(type: MetricName, at: Date, value: number, source: string): SeedReading {
  return { type, start: at, end: at, value, source };
}

/** A reading over an interval. */
export function interval(
  type: MetricName,
  start: Date,
  end: Date,
  value: number,
  source: string,
): SeedReading {
  return { type, start, end, value, source };
}
