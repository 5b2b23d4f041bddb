import { MINUTE_MS } from '../calendar.ts';
import { wakeOf } from './night.ts';
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
