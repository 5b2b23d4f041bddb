import type { Day, SeedReading } from './day.ts';
import { momentary } from './day.ts';

const WATCH = 'apple-watch';
const SAMPLE_MINUTES = 15;

/** Heart Rate, Resting HR, Walking HR, HRV and now and then an ECG. */
export function heartReadings(day: Day): SeedReading[] {
  return [...heartRates(day), ...dailyHeartReadings(day), ...variability(day), ...electrocardiograms(day)];
}

function heartRates(day: Day): SeedReading[] {
  const random = day.random('heart-rate');
  const { restingHeartRate, wakesAt, sleepMinutes } = day.person.body;
  const runsAt = random.chance(0.3) ? random.integer(17 * 60, 19 * 60) : null;
  const readings: SeedReading[] = [];
  for (let minute = 0; minute < 1440; minute += SAMPLE_MINUTES) {
    const asleep = minute < wakesAt || minute > wakesAt + 1440 - sleepMinutes - 20;
    const running = runsAt !== null && minute >= runsAt && minute < runsAt + 40;
    // Lower than at rest in sleep, lowest in the small hours.
    const level = asleep ? restingHeartRate - 4 - 3 * Math.cos((minute - 210) / 120) : restingHeartRate + 16;
    const value = running ? random.normal(restingHeartRate * 2.3, 7) : random.normal(level, asleep ? 2 : 8);
    readings.push(momentary('Heart Rate', day.at(minute + random.between(0, 10)), clamp(value), WATCH));
  }
  return readings;
}

function dailyHeartReadings(day: Day): SeedReading[] {
  const random = day.random('heart-daily');
  const { restingHeartRate } = day.person.body;
  return [
    momentary('Resting HR', day.at(23 * 60 + 30), random.normal(restingHeartRate, 1.6), WATCH),
    momentary('Walking HR', day.at(21 * 60 + 15), random.normal(restingHeartRate + 38, 4), WATCH),
  ];
}

function variability(day: Day): SeedReading[] {
  const random = day.random('hrv');
  return [150, 330, 700, 1180].map((minute) =>
    momentary(
      'HRV',
      day.at(minute + random.between(0, 25)),
      Math.max(8, random.normal(day.person.body.hrvMs, 9)),
      WATCH,
    ),
  );
}

function electrocardiograms(day: Day): SeedReading[] {
  const random = day.random('ecg');
  // The oldest day has one for sure.
  if (day.progress > 0 && !random.chance(0.1)) return [];
  const value = random.normal(day.person.body.restingHeartRate + 8, 4);
  return [momentary('ECG', day.at(random.integer(9 * 60, 20 * 60)), value, WATCH)];
}

function clamp(value: number): number {
  return Math.min(185, Math.max(42, value));
}
