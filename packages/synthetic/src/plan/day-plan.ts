import type { Random } from '../random.ts';
import type { Bout, Waking } from './bouts.ts';
import type { Meal } from './meals.ts';
import type { Night } from './night.ts';
import type { Setting } from './setting.ts';

/** What a person does on one day, from midnight to midnight where they are; readings of a day start within it, sleep aside. */
export interface DayPlan {
  readonly setting: Setting;
  /** Days since 1970-01-01. */
  readonly number: number;
  readonly timeZone: string;
  readonly start: number;
  readonly end: number;
  /** The night that ends on this day, and the one that begins. */
  readonly night: Night;
  readonly nextNight: Night;
  readonly waking: Waking;
  readonly bouts: readonly Bout[];
  /** Of this day and the day before, which the blood still knows about. */
  readonly meals: readonly Meal[];
  /** When the watch is being charged. */
  readonly charging: Waking;
  readonly illness: number;
  /** Beats a minute. */
  readonly restingHeartRate: number;
  random(topic: string): Random;
  /** A wall clock time when the person is up on this day, in minutes after midnight; null when they are not. */
  awakeAt(minute: number): number | null;
}
