import type { Day, SeedReading } from './day.ts';
import { interval } from './day.ts';
import type { Random } from './random.ts';

const WATCH = 'apple-watch';
const PHONE = 'iphone';
const FIRST_HOUR = 6;
const LAST_HOUR = 22;

// Share of a day's steps by the hour from 6 to 22: the way to work, lunch, the way home.
const SHARES = [2, 6, 11, 6, 4, 4, 9, 7, 4, 4, 6, 11, 10, 7, 5, 3, 1];
const ALL_SHARES = SHARES.reduce((sum, share) => sum + share, 0);

/** Steps, Distance, Calories, Basal Calories, Exercise and Flights, hour by hour; steps from watch and phone. */
export function activityReadings(day: Day): SeedReading[] {
  const random = day.random('activity');
  const { stepsPerDay, basalCalories } = day.person.body;
  const steps = Math.max(900, random.normal(stepsPerDay * (day.isWeekend ? 0.85 : 1.05), stepsPerDay * 0.22));
  const readings: SeedReading[] = [];
  for (let hour = 0; hour < day.hours; hour += 1) {
    const end = day.at((hour + 1) * 60);
    const basal = (basalCalories / 24) * random.between(0.96, 1.04);
    readings.push(interval('Basal Calories', day.at(hour * 60), end, basal, WATCH));
    if (hour < FIRST_HOUR || hour > LAST_HOUR) continue;
    const share = (SHARES[hour - FIRST_HOUR] ?? 0) / ALL_SHARES;
    readings.push(...movement(day, hour, Math.round(steps * share * random.between(0.6, 1.4)), random));
  }
  return [...readings, ...exercise(day, random)];
}

function movement(day: Day, hour: number, steps: number, random: Random): SeedReading[] {
  const [start, end] = [day.at(hour * 60), day.at(hour * 60 + 59)];
  const readings = [
    interval('Steps', start, end, steps, WATCH),
    interval('Distance', start, end, steps * random.between(0.68, 0.76), WATCH),
    interval('Calories', start, end, steps * random.between(0.038, 0.046) + random.between(2, 9), WATCH),
  ];
  // The phone lies on the table at times and counts less than the watch.
  if (random.chance(0.6)) {
    readings.push(interval('Steps', start, end, Math.round(steps * random.between(0.4, 0.95)), PHONE));
  }
  if (random.chance(0.3)) readings.push(interval('Flights', start, end, random.integer(1, 4), PHONE));
  return readings;
}

function exercise(day: Day, random: Random): SeedReading[] {
  const minutes = random.chance(0.35) ? random.integer(25, 55) : random.integer(4, 18);
  const start = 17 * 60 + random.integer(0, 90);
  return [interval('Exercise', day.at(start), day.at(start + minutes), minutes, WATCH)];
}
