import { isWeekend, MINUTE_MS, toInstant, weekdayOf } from './calendar.ts';
import type { Life, Person, Workout } from './person.ts';
import { createRandom, type Random } from './random.ts';

/** A period, in milliseconds since the epoch. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A period of movement at one pace. */
export interface Bout extends Span {
  readonly kind: Workout['kind'] | 'stroll';
  /** Steps a minute. */
  readonly cadence: number;
  /** Metabolic equivalents (METs); 1 is sitting still. */
  readonly met: number;
  /** Share of the heart rate reserve, 0 to 1. */
  readonly effort: number;
  readonly carriesPhone: boolean;
}

export interface StageSpan extends Span {
  readonly stage: 'awake' | 'core' | 'deep' | 'rem';
}

/** The time in bed that ends on a day. */
interface Night extends Span {
  readonly asleep: number;
  readonly wake: number;
  /** From falling asleep to waking up, without gaps. */
  readonly stages: readonly StageSpan[];
}

/** A day of a person, from local midnight to midnight. Readings of a day start within it, except for sleep. */
export interface Day extends Span {
  readonly life: Life;
  /** Days since 1970-01-01. */
  readonly number: number;
  /** The night that ends on this day, and the one that starts on it. */
  readonly nights: readonly [Night, Night];
  readonly waking: Span;
  /** They do not overlap, and lie in the waking period. */
  readonly bouts: readonly Bout[];
  /** Random numbers for this day and topic only, so that a change in one topic does not affect the others. */
  random(topic: string): Random;
  /** The instant of a wall clock time, in minutes after midnight. */
  at(minute: number): number;
}

/** A person and a seed. Any day can be computed from it, independently and in any order. */
export interface Setting {
  readonly person: Person;
  /** The instant of a wall clock time of a day, in minutes after midnight. */
  at(day: number, minute: number): number;
  random(day: number, topic: string): Random;
}

export function createSetting(person: Person, seed: number): Setting {
  return {
    person,
    at: (day, minute) => toInstant(day, minute, person.timeZone),
    random: (day, topic) => createRandom(`${seed} ${person.id} ${day} ${topic}`),
  };
}

export function isIn({ start, end }: Span, instant: number): boolean {
  return instant >= start && instant < end;
}

export function planDay(setting: Setting, life: Life, number: number): Day {
  const [start, end] = [setting.at(number, 0), setting.at(number + 1, 0)];
  const nights = [
    planNight(setting, life.habits, number),
    planNight(setting, life.habits, number + 1),
  ] as const;
  const waking = {
    start: Math.max(start, nights[0].end + 4 * MINUTE_MS),
    end: Math.min(end, nights[1].start - 10 * MINUTE_MS),
  };
  return {
    life,
    number,
    start,
    end,
    nights,
    waking,
    bouts: planBouts(setting, life.habits, number, waking),
    random: (topic) => setting.random(number, topic),
    at: (minute) => setting.at(number, minute),
  };
}

function planNight(
  setting: Setting,
  { wakesAt, weekendLater, sleepMinutes }: Life['habits'],
  day: number,
): Night {
  const random = setting.random(day, 'night');
  const usual = wakesAt + (isWeekend(day) ? weekendLater : 0);
  const wake = setting.at(day, usual + random.normal(0, 16));
  const asleep = wake - Math.round(random.normal(sleepMinutes, 30)) * MINUTE_MS;
  return {
    start: asleep - random.integer(5, 24) * MINUTE_MS,
    asleep,
    wake,
    end: wake + random.integer(2, 14) * MINUTE_MS,
    stages: planStages(asleep, wake, random),
  };
}

/** Cycles of about 90 minutes, with less deep sleep and more REM towards the morning. */
function planStages(asleep: number, wake: number, random: Random): StageSpan[] {
  const stages: StageSpan[] = [];
  for (let at = asleep; at < wake; ) {
    const share = (at - asleep) / (wake - asleep);
    const cycle = [
      { stage: 'core', minutes: random.integer(18, 30) },
      { stage: 'deep', minutes: Math.round(35 * (1 - share)) },
      { stage: 'core', minutes: random.integer(14, 24) },
      { stage: 'rem', minutes: Math.round(9 + 25 * share) },
      { stage: 'awake', minutes: random.integer(1, 6) },
    ] as const;
    for (const { stage, minutes } of cycle) {
      const end = Math.min(wake, at + minutes * MINUTE_MS);
      if (end > at) stages.push({ stage, start: at, end });
      at = end;
    }
  }
  return stages;
}

/** Steps a minute and METs of each sport. */
const SPORTS: Readonly<Record<Workout['kind'], { readonly cadence: number; readonly met: number }>> = {
  run: { cadence: 166, met: 10 },
  swim: { cadence: 0, met: 7 },
  walk: { cadence: 114, met: 4 },
};

const MOST_WALKS = 100;

/** All movement of a day: first the workouts, then walks until the day's steps are reached. */
function planBouts(setting: Setting, { workouts, steps }: Life['habits'], day: number, waking: Span): Bout[] {
  const random = setting.random(day, 'bouts');
  const bouts: Bout[] = [];
  const add = (bout: Bout) => {
    const isFree = bouts.every(({ start, end }) => bout.end <= start || bout.start >= end);
    const isPossible = isFree && bout.start >= waking.start && bout.end <= waking.end;
    if (isPossible) bouts.push(bout);
    return isPossible;
  };
  for (const { kind, weekdays, chance, startsAt, minutes, effort } of workouts) {
    if (!weekdays.includes(weekdayOf(day)) || !random.chance(chance)) continue;
    const start = setting.at(day, startsAt + random.integer(-20, 20));
    const end = start + Math.round(minutes * random.between(0.8, 1.2)) * MINUTE_MS;
    add({ kind, start, end, ...SPORTS[kind], effort, carriesPhone: random.chance(0.35) });
  }
  let left = steps * random.between(0.6, 1.5);
  for (let tries = 0; left > 0 && tries < MOST_WALKS; tries += 1) {
    const start = setting.at(day, random.integer(6 * 60, 22 * 60));
    const [minutes, cadence] = [random.integer(2, 14), random.integer(70, 110)];
    const end = start + minutes * MINUTE_MS;
    const pace = { cadence, met: 1 + cadence / 50, effort: cadence / 520 };
    const isAdded = add({ kind: 'stroll', start, end, ...pace, carriesPhone: random.chance(0.6) });
    if (isAdded) left -= minutes * cadence;
  }
  return bouts.toSorted((one, other) => one.start - other.start);
}
