import { DAY_MS, MINUTE_MS, toInstant } from '../calendar.ts';
import { createRandom, type Random } from '../random.ts';
import type { Timeline } from '../timeline.ts';

/** The events of a day that records are generated from. */
export interface HealthRecordDay {
  readonly timeline: Timeline;
  readonly number: number;
  /** The instant of a wall clock time, in minutes after midnight. */
  at(minute: number): number;
  random(topic: string): Random;
}

/** A day of a timeline. */
export function createHealthRecordDay(timeline: Timeline, number: number): HealthRecordDay {
  const { person, seed } = timeline;
  return {
    timeline,
    number,
    at: (minute) => toInstant(number * DAY_MS + minute * MINUTE_MS, timeline.zoneOn(number)),
    random: (topic) => createRandom(`${seed} ${person.id} ${number} ${topic}`),
  };
}
