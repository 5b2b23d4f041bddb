import { MINUTE_MS } from '../calendar.ts';
import type { DayPlan } from './day-plan.ts';
import type { Night, Stage } from './night.ts';

/** The body's state minute by minute, from the start of the day to its end. */
export interface Minutes {
  readonly count: number;
  /** 0 awake, 1 in bed, 2 awake during the night, 3 core, 4 deep, 5 REM sleep. */
  readonly state: Uint8Array;
  /** Steps a minute. */
  readonly cadence: Float32Array;
  /** 1 where the phone is carried. */
  readonly phone: Uint8Array;
  /** 1 where the watch is not worn. */
  readonly watchOff: Uint8Array;
  /** 1 in a workout. */
  readonly workout: Uint8Array;
  /** Metabolic equivalents. */
  readonly met: Float32Array;
  /** Beats a minute. */
  readonly heartRate: Float32Array;
}

export function isAsleep(state: number | undefined): boolean {
  return state !== undefined && state >= 3;
}

const STATE_OF: Readonly<Record<Stage, number>> = { awake: 2, core: 3, deep: 4, rem: 5 };

// Difference from the resting rate in beats: lower in sleep, lowest in deep sleep.
const STATE_BEATS = [9, 3, 4, -5, -7, -2];

export function buildMinutes(plan: DayPlan): Minutes {
  const count = Math.round((plan.end - plan.start) / MINUTE_MS);
  const minutes: Minutes = {
    count,
    state: new Uint8Array(count),
    cadence: new Float32Array(count),
    phone: new Uint8Array(count),
    watchOff: new Uint8Array(count),
    workout: new Uint8Array(count),
    met: new Float32Array(count).fill(1),
    heartRate: new Float32Array(count),
  };
  const toIndex = (instant: number) =>
    Math.min(count, Math.max(0, Math.round((instant - plan.start) / MINUTE_MS)));
  for (const night of [plan.night, plan.nextNight]) fillNight(minutes, night, toIndex);
  minutes.watchOff.fill(1, toIndex(plan.charging.from), toIndex(plan.charging.to));
  const effort = fillBouts(minutes, plan, toIndex);
  fillHeartRate(minutes, plan, effort);
  return minutes;
}

function fillNight(minutes: Minutes, night: Night, toIndex: (instant: number) => number): void {
  const { state, watchOff, met } = minutes;
  const [from, to] = [toIndex(night.inBed), toIndex(night.outOfBed)];
  state.fill(1, from, to);
  met.fill(0.95, from, to);
  if (!night.measured) watchOff.fill(1, from, to);
  for (const { stage, start, end } of night.stages) {
    state.fill(STATE_OF[stage], toIndex(start), toIndex(end));
  }
}

/** Returns the effort, minute by minute. */
function fillBouts(minutes: Minutes, plan: DayPlan, toIndex: (instant: number) => number): Float32Array {
  const effort = new Float32Array(minutes.count);
  const random = plan.random('fidgeting');
  for (let minute = 0; minute < minutes.count; minute += 1) {
    if (minutes.state[minute] === 0) minutes.met[minute] = 1 + random.between(0, 0.35);
  }
  for (const bout of plan.bouts) {
    const [from, to] = [toIndex(bout.start), toIndex(bout.end)];
    if (bout.carriesPhone) minutes.phone.fill(1, from, to);
    if (bout.kind !== 'stroll') {
      minutes.workout.fill(1, from, to);
      minutes.watchOff.fill(0, from, to);
    }
    let form = 0;
    for (let minute = from; minute < to; minute += 1) {
      form = form * 0.9 + random.normal(0, 0.02);
      const pace = random.between(0.96, 1.04) * (1 + form);
      minutes.cadence[minute] = bout.cadence * pace;
      minutes.met[minute] = bout.met * pace;
      // At the same pace, the heart rate drifts upwards over time.
      effort[minute] = bout.effort * pace * (1 + Math.min(0.08, 0.0007 * (minute - from)));
    }
  }
  return effort;
}

/** How fast the heart rate follows per minute: up quickly, down slowly. */
const RISE = 0.5;
const FALL = 0.28;

function fillHeartRate(minutes: Minutes, plan: DayPlan, effort: Float32Array): void {
  const random = plan.random('heartbeat');
  const { restingHeartRate: resting, setting } = plan;
  const reserve = maximumHeartRate(setting.person.profile?.dateOfBirth, plan.number) - resting;
  let tension = random.normal(0, 4);
  let rate = Number.NaN;
  for (let minute = 0; minute < minutes.count; minute += 1) {
    const state = minutes.state[minute] ?? 0;
    const instant = plan.start + minute * MINUTE_MS;
    tension = tension * 0.96 + random.normal(0, state === 0 ? 1.3 : 0.35);
    const calm =
      state === 0 ? circadianBeats(minute) + tension : tension * 0.4 + 4 * shareLeft(plan, instant);
    const still = resting + (STATE_BEATS[state] ?? 0) + calm;
    const share = effort[minute] ?? 0;
    const target = share === 0 ? still : Math.max(still, resting + share * reserve);
    rate = Number.isNaN(rate) ? target : rate + (target - rate) * (target > rate ? RISE : FALL);
    minutes.heartRate[minute] = Math.min(reserve + resting, Math.max(36, rate));
  }
}

/** Remaining share of the night, 0 to 1: the heart rate falls until the early morning. */
function shareLeft({ night, nextNight }: DayPlan, instant: number): number {
  const { asleep, wake } = instant >= nextNight.inBed ? nextNight : night;
  return Math.min(1, Math.max(0, (wake - instant) / (wake - asleep)));
}

function circadianBeats(minute: number): number {
  return 3 * Math.cos((2 * Math.PI * (minute - 16 * 60)) / 1440);
}

/** Maximum heart rate: 208 - 0.7 × age (Tanaka, Monahan, Seals, J Am Coll Cardiol 2001). */
function maximumHeartRate(dateOfBirth: string | undefined, day: number): number {
  return 208 - 0.7 * ageOn(dateOfBirth, day);
}

/** Age in years; 40 when unknown. */
export function ageOn(dateOfBirth: string | undefined, day: number): number {
  return dateOfBirth === undefined ? 40 : (day - Date.parse(dateOfBirth) / 86_400_000) / 365.25;
}
