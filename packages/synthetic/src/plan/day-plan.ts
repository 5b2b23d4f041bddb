import { MINUTE_MS } from '../calendar.ts';
import type { Random } from '../random.ts';
import type { Bout, Waking } from './bouts.ts';
import { type Night, wakeOf } from './night.ts';
import type { Setting } from './setting.ts';

export interface Meal {
  readonly at: number;
  /** 1 is an ordinary meal. */
  readonly size: number;
}

/** Breakfast after waking up, lunch, dinner, and snacks on some days. */
export function planMeals(setting: Setting, day: number): Meal[] {
  const random = setting.random(day, 'meals');
  const { lunchAt, dinnerAt } = setting.life.habits;
  const wake = wakeOf(setting, day);
  const meals = [
    { at: wake + random.integer(30, 60) * MINUTE_MS, size: random.between(0.7, 1.15) },
    { at: setting.at(day, lunchAt + random.integer(-25, 25)), size: random.between(0.8, 1.25) },
    { at: setting.at(day, dinnerAt + random.integer(-25, 25)), size: random.between(0.8, 1.35) },
  ];
  if (random.chance(0.3)) {
    meals.push({ at: setting.at(day, lunchAt + random.integer(165, 200)), size: random.between(0.3, 0.5) });
  }
  const nextWake = wakeOf(setting, day + 1);
  return meals
    .filter(({ at }) => at >= wake && at < nextWake - 8 * 60 * MINUTE_MS)
    .toSorted((one, other) => one.at - other.at);
}

/** What a person does on one day, from local midnight to midnight. Readings of a day start within it, except for sleep. */
export interface DayPlan {
  readonly setting: Setting;
  /** Days since 1970-01-01. */
  readonly number: number;
  readonly timeZone: string;
  readonly start: number;
  readonly end: number;
  /** The night that ends on this day, and the one that starts on it. */
  readonly night: Night;
  readonly nextNight: Night;
  readonly waking: Waking;
  readonly bouts: readonly Bout[];
  /** Meals of this day and the day before, because both affect glucose. */
  readonly meals: readonly Meal[];
  /** When the watch is charging. */
  readonly charging: Waking;
  readonly illness: number;
  /** Beats a minute. */
  readonly restingHeartRate: number;
  random(topic: string): Random;
  /** The instant of a wall clock time, in minutes after midnight, if the person is awake then; else null. */
  awakeAt(minute: number): number | null;
}
