import type { MetricName } from '@phds/catalog/metrics';
import { dayOf, HOUR_MS, startOfDay } from './calendar.ts';
import { createPlanner, type Day } from './day.ts';
import { type Person, zoneOn } from './person.ts';
import { type SyntheticReading, sample } from './reading.ts';
import { TOPICS, type Topic } from './topics.ts';

export interface TimelineOptions {
  /** Different seeds give different lives of the same person. Default 1. */
  readonly seed?: number;
  /** The last instant of the data, in milliseconds. */
  readonly until: number;
  /** The amount of data before `until`: a number of days or of readings. Default: the person's own number of days. */
  readonly extent?: { readonly days: number } | { readonly readings: number };
  /** What is measured. Default: everything. */
  readonly topics?: readonly Topic[];
}

/** A period of a person's life. */
export interface Timeline {
  readonly person: Person;
  readonly seed: number;
  readonly until: number;
  /** Days since 1970-01-01, both inclusive. */
  readonly firstDay: number;
  readonly lastDay: number;
  readonly topics: readonly Topic[];
  /** The readings by topic and then by day. Memory does not depend on their number. Within a type they are ordered by time. */
  batches(topics?: readonly Topic[]): Generator<ReadingBatch>;
  /** The days; none for a person without devices. */
  days(): Iterable<Day>;
}

/** The readings of one topic and day. */
export interface ReadingBatch {
  readonly timeZone: string;
  readonly readings: readonly SyntheticReading[];
}

const LONGEST_DAYS = 30_000;

/** Opens a timeline. The same person and options give the same readings. */
export function openTimeline(
  person: Person,
  { seed = 1, until, extent, topics = TOPICS }: TimelineOptions,
): Timeline {
  const { life } = person;
  if (life === null) return openEntries(person, seed, until, topics);
  const dayAt = createPlanner(person, life, seed);
  const lastDay = dayAround(person, until - 1);
  const { firstDay, skipped } =
    extent !== undefined && 'readings' in extent
      ? findStart(topics, dayAt, lastDay, until, extent.readings)
      : { firstDay: lastDay - (extent?.days ?? person.days) + 1, skipped: new Map<MetricName, number>() };
  return {
    person,
    seed,
    until,
    firstDay,
    lastDay,
    *days() {
      for (let number = firstDay; number <= lastDay; number += 1) yield dayAt(number);
    },
    topics,
    *batches(chosen = topics) {
      for (const topic of chosen) {
        for (let number = firstDay; number <= lastDay; number += 1) {
          const day = dayAt(number);
          const made = readingsOf(topic, day, until);
          const readings = number === firstDay ? skip(made, skipped) : made;
          if (readings.length > 0) yield { timeZone: day.timeZone, readings };
        }
      }
    },
  };
}

/** The person's local day at an instant, wherever they are. On a journey it may be one day ahead of or behind home. */
function dayAround(person: Person, instant: number): number {
  const atHome = dayOf(instant, person.timeZone);
  const begun = [atHome + 1, atHome].find((day) => startOfDay(day, zoneOn(person, day)) <= instant);
  return begun ?? atHome - 1;
}

/** The readings of a timeline, one at a time. */
export function* readingsIn(timeline: Timeline, topics?: readonly Topic[]): Generator<SyntheticReading> {
  for (const { readings } of timeline.batches(topics)) yield* readings;
}

function readingsOf({ make }: Topic, day: Day, until: number): SyntheticReading[] {
  return make(day)
    .filter(({ end }) => end <= until)
    .sort((one, other) => one.start - other.start);
}

/** Goes back until there are enough readings. Returns the first day, and how many of each type to skip on it. */
function findStart(
  topics: readonly Topic[],
  dayAt: (day: number) => Day,
  lastDay: number,
  until: number,
  wanted: number,
) {
  let count = 0;
  for (let number = lastDay; number > lastDay - LONGEST_DAYS; number -= 1) {
    const readings = topics.flatMap((topic) => readingsOf(topic, dayAt(number), until));
    count += readings.length;
    if (count < wanted) continue;
    const skipped = new Map<MetricName, number>();
    readings.sort((one, other) => one.start - other.start);
    for (const { type } of readings.slice(0, count - wanted)) {
      skipped.set(type, (skipped.get(type) ?? 0) + 1);
    }
    return { firstDay: number, skipped };
  }
  throw new RangeError(`This person has fewer than ${wanted} readings in ${LONGEST_DAYS} days.`);
}

/** Skips the earliest readings of each type. */
function skip(readings: SyntheticReading[], skipped: ReadonlyMap<MetricName, number>): SyntheticReading[] {
  if (skipped.size === 0) return readings;
  const left = new Map(skipped);
  return readings.filter(({ type }) => {
    const count = left.get(type) ?? 0;
    if (count > 0) left.set(type, count - 1);
    return count === 0;
  });
}

/** Entries made by hand, relative to the last full hour. */
function openEntries(person: Person, seed: number, until: number, topics: readonly Topic[]): Timeline {
  const { timeZone } = person;
  const fullHour = Math.floor(until / HOUR_MS) * HOUR_MS;
  const lastDay = dayOf(until - 1, timeZone);
  return {
    person,
    seed,
    until,
    firstDay: lastDay - person.days + 1,
    lastDay,
    days: () => [],
    topics,
    *batches(chosen = topics) {
      for (const { types } of chosen) {
        const readings = person.entries
          .filter(({ type }) => types.includes(type))
          .map(({ type, hoursAgo, value }) => sample(type, fullHour - hoursAgo * HOUR_MS, value, 'manual'));
        if (readings.length > 0) yield { timeZone, readings };
      }
    },
  };
}

/** The instant at which a local day of the person ends. */
export function endOfDay(person: Person, day: number): number {
  return startOfDay(day + 1, zoneOn(person, day + 1));
}
