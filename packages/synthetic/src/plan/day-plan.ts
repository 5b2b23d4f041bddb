import type { Random } from '../random.ts';
import type { Bout, Waking } from './bouts.ts';
import type { Meal } from './meals.ts';
import type { Night } from './night.ts';
import type { Setting } from './setting.ts';

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
