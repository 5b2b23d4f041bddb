import { MINUTE_MS, weekdayOf } from '../calendar.ts';
import type { Workout } from '../person.ts';
import type { Random } from '../random.ts';
import type { Setting } from './setting.ts';

/** A period of movement at one pace. */
export interface Bout {
  readonly kind: Workout['kind'] | 'stroll';
  readonly start: number;
  readonly end: number;
  /** Steps a minute. */
  readonly cadence: number;
  /** Metabolic equivalents (METs); 1 is sitting still. */
  readonly met: number;
  /** Share of the heart rate reserve, 0 to 1. */
  readonly effort: number;
  readonly carriesPhone: boolean;
  /** Flights of stairs climbed. */
  readonly flights: number;
}

/** The waking period of a person on a day. */
export interface Waking {
  readonly from: number;
  readonly to: number;
}

/** Plans all movement of a day: first the workouts, then walks until the day's steps are reached. */
export function planBouts(setting: Setting, day: number, waking: Waking): Bout[] {
  const illness = setting.illnessOn(day);
  const bouts = illness > 0.3 ? [] : planWorkouts(setting, day, waking);
  if (setting.life.habits.commutes && !setting.isWeekend(day) && illness < 0.5) {
    bouts.push(...planCommute(setting, day, waking).filter((bout) => isFree(bout, bouts)));
  }
  bouts.push(...planWalks(setting, day, waking, bouts));
  return bouts.toSorted((one, other) => one.start - other.start);
}

/** Steps a minute and METs of each sport at an effort (2024 Compendium of Physical Activities). */
const SPORTS: Readonly<Record<Workout['kind'], { readonly cadence: number; readonly met: number }>> = {
  run: { cadence: 166, met: 13 },
  ride: { cadence: 0, met: 11 },
  swim: { cadence: 0, met: 11 },
  strength: { cadence: 6, met: 7 },
  walk: { cadence: 114, met: 8 },
};

/** Workouts do not overlap and end before bedtime. */
function planWorkouts(setting: Setting, day: number, waking: Waking): Bout[] {
  const random = setting.random(day, 'workouts');
  const bouts: Bout[] = [];
  for (const { kind, weekdays, chance, startsAt, minutes, effort } of setting.life.habits.workouts) {
    if (!weekdays.includes(weekdayOf(day)) || !random.chance(chance)) continue;
    const start = setting.at(day, startsAt + Math.round(random.normal(0, 14)));
    const end = start + Math.round(minutes * random.between(0.8, 1.2)) * MINUTE_MS;
    if (!isFree({ start, end }, bouts) || start < waking.from || end > waking.to - 30 * MINUTE_MS) continue;
    const { cadence, met } = SPORTS[kind];
    const level = Math.min(0.95, Math.max(0.25, random.normal(effort, 0.04)));
    bouts.push({
      kind,
      start,
      end,
      cadence: cadence === 0 ? 0 : Math.max(4, random.normal(cadence, 3)),
      met: 1 + level * met,
      effort: level,
      carriesPhone: kind === 'walk' || random.chance(0.35),
      flights: 0,
    });
  }
  return bouts;
}

function planCommute(setting: Setting, day: number, waking: Waking): Bout[] {
  const random = setting.random(day, 'commute');
  if (random.chance(0.2)) return [];
  return [8 * 60 + 5, 17 * 60 + 5]
    .map((minute) => setting.at(day, minute + Math.round(random.normal(0, 8))))
    .map((start) => stroll(start, random.integer(11, 17), random.normal(108, 5), random, true))
    .filter(({ start, end }) => start >= waking.from && end <= waking.to);
}

// Relative probability that a walk starts in each hour from 6: shopping, lunch, the way home.
const HOURS = [2, 5, 7, 5, 5, 6, 10, 7, 5, 5, 6, 9, 9, 7, 4, 3, 1];
const FIRST_HOUR = 6;
const HOURS_SUM = HOURS.reduce((sum, weight) => sum + weight, 0);
const MOST_TRIES = 300;

/** A person's daily steps have a skewed distribution: many ordinary days and a long tail. */
function planWalks(setting: Setting, day: number, waking: Waking, planned: readonly Bout[]): Bout[] {
  const random = setting.random(day, 'walks');
  const weekly = setting.isWeekend(day) ? 0.9 : 1.04;
  const season = 1 - 0.07 * Math.cos((2 * Math.PI * (day % 365.25)) / 365.25);
  const health = 1 - 0.75 * setting.illnessOn(day);
  const usual = setting.life.habits.steps * weekly * season * health;
  const wanted = usual * Math.exp(random.normal(-0.045, 0.3));
  const walks = [...planned];
  let steps = planned.reduce((sum, bout) => sum + (bout.kind === 'stroll' ? stepsOf(bout) : 0), 0);
  for (let tries = 0; steps < wanted && tries < MOST_TRIES; tries += 1) {
    const start = setting.at(day, FIRST_HOUR * 60 + pickMinute(random));
    const walk = stroll(start, walkMinutes(random), random.normal(88, 15), random, random.chance(0.6));
    if (!isFree(walk, walks) || walk.start < waking.from || walk.end > waking.to) continue;
    walks.push(walk);
    steps += stepsOf(walk);
  }
  return walks.slice(planned.length);
}

function pickMinute(random: Random): number {
  let rest = random.between(0, HOURS_SUM);
  const hour = HOURS.findIndex((weight) => {
    rest -= weight;
    return rest < 0;
  });
  return hour * 60 + random.integer(0, 59);
}

/** Most walks are short. */
function walkMinutes(random: Random): number {
  return Math.min(45, 1 + Math.floor(-5 * Math.log(1 - random.between(0, 1))));
}

function stroll(start: number, minutes: number, pace: number, random: Random, carriesPhone: boolean): Bout {
  const cadence = Math.min(128, Math.max(45, pace));
  return {
    kind: 'stroll',
    start,
    end: start + minutes * MINUTE_MS,
    cadence,
    // 100 steps a minute are 3 METs (Tudor-Locke et al., Br J Sports Med 2018).
    met: 1 + cadence / 50,
    effort: cadence / 520,
    carriesPhone,
    flights: random.chance(0.3) ? random.integer(1, 3) : 0,
  };
}

function isFree({ start, end }: Pick<Bout, 'start' | 'end'>, bouts: readonly Bout[]): boolean {
  return bouts.every((bout) => end <= bout.start || start >= bout.end);
}

function stepsOf({ cadence, start, end }: Bout): number {
  return (cadence * (end - start)) / MINUTE_MS;
}
