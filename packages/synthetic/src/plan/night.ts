import { MINUTE_MS } from '../calendar.ts';
import type { Random } from '../random.ts';
import type { Setting } from './setting.ts';

export type Stage = 'awake' | 'core' | 'deep' | 'rem';

export interface StageSpan {
  readonly stage: Stage;
  readonly start: number;
  readonly end: number;
}

/** The sleep that ends on a day. */
export interface Night {
  readonly inBed: number;
  readonly asleep: number;
  readonly wake: number;
  readonly outOfBed: number;
  /** From falling asleep to waking up, without gaps. */
  readonly stages: readonly StageSpan[];
  /** Whether the watch was worn. */
  readonly measured: boolean;
}

/** Sleep is scored in epochs of 30 seconds (AASM manual). */
const EPOCH_MS = 30_000;

/** Even on a day shortened by a flight, people are awake for more than half of it. */
const LONGEST_SHARE = 0.42;

/** When the person wakes up on a day. */
export function wakeOf(setting: Setting, day: number): number {
  const { wakesAt, weekendLater } = setting.life.habits;
  const later = setting.isWeekend(day) ? weekendLater : 0;
  return toEpoch(setting.at(day, wakesAt + later + setting.random(day, 'wake').normal(0, 16)));
}

export function planNight(setting: Setting, day: number): Night {
  const random = setting.random(day, 'night');
  const { sleepMinutes, weekendLater } = setting.life.habits;
  const wake = wakeOf(setting, day);
  const wanted =
    random.normal(sleepMinutes + (setting.isWeekend(day) ? weekendLater * 0.6 : 0), 30) +
    setting.drift(day, 'sleep', 12) * 18;
  const longest = ((wake - wakeOf(setting, day - 1)) / MINUTE_MS) * LONGEST_SHARE;
  const asleep = toEpoch(wake - Math.min(Math.max(wanted, 180), longest) * MINUTE_MS);
  return {
    inBed: toEpoch(asleep - random.between(5, 24) * MINUTE_MS),
    asleep,
    wake,
    outOfBed: toEpoch(wake + random.between(2, 14) * MINUTE_MS),
    stages: planStages(asleep, wake, setting.life.body.deepSleep, random),
    measured: random.chance(0.96),
  };
}

/**
 * Cycles of about 90 minutes, with deep sleep in the first ones and more REM towards the morning (Carskadon and Dement, Normal
 * human sleep, in: Principles and Practice of Sleep Medicine).
 */
function planStages(asleep: number, wake: number, deepSleep: number, random: Random): StageSpan[] {
  const stages: StageSpan[] = [];
  let at = asleep;
  const add = (stage: Stage, minutes: number) => {
    const end = Math.min(wake, at + toEpoch(minutes * MINUTE_MS));
    if (end <= at) return;
    const last = stages.at(-1);
    if (last?.stage === stage) stages[stages.length - 1] = { ...last, end };
    else stages.push({ stage, start: at, end });
    at = end;
  };
  while (at < wake) {
    const share = (at - asleep) / (wake - asleep);
    const cycle = Math.min(112, Math.max(72, random.normal(92, 8)));
    const deep = 40 * deepSleep * (1 - 1.4 * share) + random.normal(0, 4);
    const rem = Math.max(3, 9 + 27 * share + random.normal(0, 4));
    const core = cycle - Math.max(0, deep) - rem;
    add('core', core * random.between(0.3, 0.5));
    if (deep > 3) add('deep', deep);
    add('core', core * random.between(0.5, 0.65));
    add('rem', rem);
    if (random.chance(1 - 0.4 * deepSleep)) add('awake', random.between(0.5, 7));
  }
  return stages;
}

function toEpoch(milliseconds: number): number {
  return Math.floor(milliseconds / EPOCH_MS) * EPOCH_MS;
}
