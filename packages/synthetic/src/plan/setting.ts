import { DAY_MS, formatDay, MINUTE_MS, startOfDay, toInstant, weekdayOf } from '../calendar.ts';
import type { Life, Person } from '../person.ts';
import { createRandom, drift, type Random } from '../random.ts';

/** A person and a seed. Any day can be computed from it, independently and in any order. */
export interface Setting {
  readonly person: Person;
  readonly life: Life;
  zoneOn(day: number): string;
  startOf(day: number): number;
  /** The instant of a wall clock time, in minutes after midnight; negative for the evening before. */
  at(day: number, minute: number): number;
  isWeekend(day: number): boolean;
  /** Random numbers for this day and topic only, so that a change in one topic does not affect the others. */
  random(day: number, topic: string): Random;
  /** A value around 0 that drifts over `period` days. */
  drift(day: number, topic: string, period: number): number;
  /** 0 is healthy, 1 the worst day of a cold. */
  illnessOn(day: number): number;
}

export function createSetting(person: Person, life: Life, seed: number): Setting {
  const prefix = `${seed} ${person.id}`;
  const zoneOn = (day: number) => findZone(person, day);
  const random = (day: number, topic: string) => createRandom(`${prefix} ${day} ${topic}`);
  return {
    person,
    life,
    zoneOn,
    startOf: (day) => startOfDay(day, zoneOn(day)),
    at: (day, minute) => toInstant(day * DAY_MS + Math.round(minute * MINUTE_MS), zoneOn(day)),
    isWeekend: (day) => [0, 6].includes(weekdayOf(day)),
    random,
    drift: (day, topic, period) => drift(`${prefix} ${topic}`, day, period),
    illnessOn: (day) => illnessOn(day, random),
  };
}

function findZone({ timeZone, trips }: Person, day: number): string {
  if (trips.length === 0) return timeZone;
  const [, month, date] = formatDay(day).split('-').map(Number);
  const trip = trips.find(
    (each) => each.month === month && each.firstDay <= (date ?? 0) && (date ?? 0) <= each.lastDay,
  );
  return trip?.timeZone ?? timeZone;
}

const SEASON_DAYS = 120;

/** Adults catch two to three colds a year: one every 120 days, lasting three to six days. */
function illnessOn(day: number, random: Setting['random']): number {
  const season = Math.floor(day / SEASON_DAYS);
  const numbers = random(season, 'cold');
  const begins = season * SEASON_DAYS + numbers.integer(5, SEASON_DAYS - 12);
  const lasts = numbers.integer(3, 6);
  const ill = day - begins;
  return ill < 0 || ill >= lasts ? 0 : 1 - (0.8 * Math.abs(ill - 1)) / lasts;
}
