import type { MetricName } from '@phds/catalog/metrics';
import type { Day, SeedReading } from './day.ts';
import { interval } from './day.ts';

const WATCH = 'apple-watch';
const CYCLE_MINUTES = 92;

/** The night that ends on this day: its stages in cycles, the time asleep and the time in bed. */
export function sleepReadings(day: Day): SeedReading[] {
  const random = day.random('sleep');
  const { wakesAt, sleepMinutes } = day.person.body;
  const wakes = wakesAt + random.integer(-20, 20) + (day.isWeekend ? 50 : 0);
  const asleep = Math.round(random.normal(sleepMinutes + (day.isWeekend ? 30 : 0), 28));
  const latency = random.integer(6, 22);
  const stages = nightStages(day, wakes - asleep, wakes);
  const awake = stages
    .filter(({ type }) => type === 'Sleep Awake')
    .reduce((sum, { value }) => sum + value, 0);
  return [
    ...stages,
    interval('Sleep', day.at(wakes - asleep), day.at(wakes), asleep - awake, WATCH),
    interval('Time in Bed', day.at(wakes - asleep - latency), day.at(wakes + 8), asleep + latency + 8, WATCH),
  ];
}

function nightStages(day: Day, begin: number, end: number): SeedReading[] {
  const random = day.random('sleep-stages');
  const stages: SeedReading[] = [];
  let minute = begin;
  const add = (type: MetricName, minutes: number) => {
    const until = Math.min(end, minute + Math.round(minutes));
    if (until > minute) stages.push(interval(type, day.at(minute), day.at(until), until - minute, WATCH));
    minute = Math.max(minute, until);
  };
  while (minute < end) {
    // Deep sleep comes early in the night, dreams late.
    const late = (minute - begin) / (end - begin);
    const deep = 34 * (1 - late) + random.between(2, 8);
    const rem = 10 + 22 * late + random.between(0, 6);
    add('Sleep Core', (CYCLE_MINUTES - deep - rem) * 0.6);
    add('Sleep Deep', deep);
    add('Sleep Core', (CYCLE_MINUTES - deep - rem) * 0.4);
    add('Sleep REM', rem);
    if (random.chance(0.7)) add('Sleep Awake', random.between(1, 7));
  }
  return stages;
}
