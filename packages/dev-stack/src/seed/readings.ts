import { activityReadings } from './activity-readings.ts';
import { bodyReadings } from './body-readings.ts';
import type { SeedReading } from './day.ts';
import { listDays, momentary } from './day.ts';
import { heartReadings } from './heart-readings.ts';
import type { Person } from './person.ts';
import { sleepReadings } from './sleep-readings.ts';
import { vitalReadings } from './vital-readings.ts';

const HOUR_MS = 3_600_000;

/** Every reading of a person that has happened by `now`: all metric types, oldest day first. */
export function listReadings(person: Person, now: Date): SeedReading[] {
  return listDays(person, now)
    .flatMap((day) => [
      ...heartReadings(day),
      ...vitalReadings(day),
      ...activityReadings(day),
      ...sleepReadings(day),
      ...bodyReadings(day),
    ])
    .filter(({ end }) => end <= now);
}

/** The few readings of the user with little data: two categories, the last ten days. */
export function listSparseReadings(now: Date): SeedReading[] {
  const hoursAgo = (hours: number) =>
    new Date(Math.floor(now.getTime() / HOUR_MS) * HOUR_MS - hours * HOUR_MS);
  return [
    momentary('Heart Rate', hoursAgo(2), 74, 'manual'),
    momentary('Heart Rate', hoursAgo(75), 68, 'manual'),
    momentary('Heart Rate', hoursAgo(218), 81, 'manual'),
    momentary('Weight', hoursAgo(30), 71.4, 'manual'),
    momentary('Weight', hoursAgo(200), 71.9, 'manual'),
  ];
}
