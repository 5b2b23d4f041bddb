import { MINUTE_MS, SECOND_MS, weekdayOf } from '../calendar.ts';
import type { Day } from '../plan/day.ts';
import { isAsleep } from '../plan/minutes.ts';
import { type SyntheticReading, sample } from '../reading.ts';

const WATCH = 'apple-watch';

/** Heart rate: rarely at rest, frequently in workouts, as watches measure it. */
export function heartRates({ minutes, start, setting, random }: Day): SyntheticReading[] {
  const { heartRateSeconds, workoutHeartRateSeconds } = setting.life.devices;
  const numbers = random('heart-rate');
  const { heartRate, watchOff, workout, count } = minutes;
  const readings: SyntheticReading[] = [];
  let second = numbers.between(0, heartRateSeconds);
  while (second < count * 60) {
    const minute = Math.floor(second / 60);
    const isWorkout = workout[minute] === 1;
    if (watchOff[minute] === 0) {
      const [now, next] = [heartRate[minute] ?? 0, heartRate[minute + 1] ?? heartRate[minute] ?? 0];
      const rate = now + (next - now) * (second / 60 - minute) + numbers.normal(0, 1.4);
      readings.push(sample('Heart Rate', start + second * SECOND_MS, Math.max(34, rate), WATCH));
    }
    const step = isWorkout
      ? workoutHeartRateSeconds
      : untilWorkout(workout, second, heartRateSeconds * numbers.between(0.7, 1.3));
    second += Math.max(1, step);
  }
  return readings;
}

/** A workout that starts before the next sample has samples of its own. */
function untilWorkout(workout: Uint8Array, second: number, step: number): number {
  const begins = workout.indexOf(1, Math.floor(second / 60) + 1) * 60;
  return begins > second && begins < second + step ? begins - second : step;
}

/** Resting heart rate, once a day, in the evening. */
export function restingRates({ end, restingHeartRate }: Day): SyntheticReading[] {
  return [sample('Resting HR', end - 30 * MINUTE_MS, restingHeartRate, WATCH)];
}

/** Walking heart rate, once on each day with a walk. */
export function walkingRates({ bouts, minutes, start, end }: Day): SyntheticReading[] {
  const walked: number[] = [];
  for (const bout of bouts.filter(({ kind, cadence }) => kind === 'stroll' && cadence > 75)) {
    const last = Math.floor((bout.end - start) / MINUTE_MS) - 1;
    const rate = minutes.heartRate[last];
    if (rate !== undefined && bout.end - bout.start >= 4 * MINUTE_MS) walked.push(rate);
  }
  if (walked.length === 0) return [];
  const average = walked.reduce((sum, rate) => sum + rate, 0) / walked.length;
  return [sample('Walking HR', end - 120 * MINUTE_MS, average, WATCH)];
}

/** HRV (SDNN): higher in sleep than during the day, lower when ill or after hard training. */
export function variabilities({ minutes, start, setting, illness, number, random }: Day): SyntheticReading[] {
  const numbers = random('hrv');
  const strain = setting.drift(number, 'fitness', 28) * -0.05 - illness * 0.35;
  return [150, 330, 700, 1180].flatMap((minute) => {
    const at = minute + numbers.integer(0, 25);
    const rest = isAsleep(minutes.state[at]) ? 1.12 : 0.86;
    const value = setting.life.body.hrvMs * rest * Math.exp(numbers.normal(strain, 0.17));
    return at >= minutes.count || minutes.watchOff[at] === 1
      ? []
      : [sample('HRV', start + at * MINUTE_MS, Math.max(6, value), WATCH)];
  });
}

/** An ECG on Sundays while sitting. */
export function electrocardiograms({ number, awakeAt, restingHeartRate, random }: Day): SyntheticReading[] {
  if (weekdayOf(number) !== 0) return [];
  const numbers = random('ecg');
  const at = awakeAt(numbers.integer(15 * 60, 17 * 60));
  return at === null ? [] : [sample('ECG', at, restingHeartRate + numbers.normal(9, 3), WATCH)];
}
