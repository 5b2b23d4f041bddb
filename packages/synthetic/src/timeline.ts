import { dayOf, HOUR_MS } from './calendar.ts';
import { createSetting, planDay } from './day.ts';
import type { Person } from './person.ts';
import { type SyntheticReading, sample } from './reading.ts';
import { TOPICS } from './topics.ts';

interface TimelineOptions {
  /** Different seeds give different lives of the same person. Default 1. */
  readonly seed?: number;
  /** The last instant of the data, in milliseconds. */
  readonly until: number;
  /** Default: the person's own number of days. */
  readonly days?: number;
}

/** A period of a person's life. */
export interface Timeline {
  readonly person: Person;
  readonly seed: number;
  readonly until: number;
  /** Days since 1970-01-01, both inclusive. */
  readonly firstDay: number;
  readonly lastDay: number;
}

/** The same person and options give the same readings and records. */
export function openTimeline(
  person: Person,
  { seed = 1, until, days = person.days }: TimelineOptions,
): Timeline {
  const lastDay = dayOf(until - 1, person.timeZone);
  return { person, seed, until, firstDay: lastDay - days + 1, lastDay };
}

/** The readings of a timeline, by day. Memory does not depend on their number. */
export function* readingsIn({ person, seed, until, ...days }: Timeline): Generator<SyntheticReading> {
  const fullHour = Math.floor(until / HOUR_MS) * HOUR_MS;
  for (const { type, hoursAgo, value } of person.entries)
    yield sample(type, fullHour - hoursAgo * HOUR_MS, value, 'manual');
  if (person.life === null) return;
  const setting = createSetting(person, seed);
  for (let number = days.firstDay; number <= days.lastDay; number += 1) {
    const day = planDay(setting, person.life, number);
    for (const make of TOPICS) yield* make(day).filter(({ end }) => end <= until);
  }
}
