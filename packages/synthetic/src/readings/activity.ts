import { MINUTE_MS } from '../calendar.ts';
import type { Day } from '../plan/day.ts';
import { ageOn, isAsleep } from '../plan/minutes.ts';
import { interval, type Source, type SyntheticReading } from '../reading.ts';
import { weightOn } from './body.ts';

/** An additive quantity, minute by minute. */
type Amount = (minute: number) => number;

/** Steps counted by the watch, and by the phone while it is carried. Each misses some. */
export function steps(day: Day): SyntheticReading[] {
  const { minutes } = day;
  const phone = day.random('phone').between(0.9, 1.02);
  return [
    ...collect(
      day,
      'Steps',
      'apple-watch',
      (minute) => onWrist(day, minute) * (minutes.cadence[minute] ?? 0),
    ),
    ...collect(
      day,
      'Steps',
      'iphone',
      (minute) => inPocket(day, minute) * (minutes.cadence[minute] ?? 0) * phone,
    ),
  ];
}

/** Distance of walks and runs, from both devices. */
export function distances(day: Day): SyntheticReading[] {
  const phone = day.random('phone').between(0.93, 1.07);
  return [
    ...collect(day, 'Distance', 'apple-watch', (minute) => onWrist(day, minute) * metres(day, minute)),
    ...collect(day, 'Distance', 'iphone', (minute) => inPocket(day, minute) * metres(day, minute) * phone),
  ];
}

/** Kilocalories above rest. One MET is 3.5 ml of oxygen per kilogram and minute; a litre of oxygen is 5 kcal. */
export function activeEnergy(day: Day): SyntheticReading[] {
  const weight = weightOn(day.setting, day.number);
  const { met } = day.minutes;
  return collect(
    day,
    'Calories',
    'apple-watch',
    (minute) => (onWrist(day, minute) * Math.max(0, (met[minute] ?? 1) - 1) * 3.5 * weight) / 200,
  );
}

/** Basal kilocalories by the equation of Mifflin and St Jeor (Am J Clin Nutr 1990), slightly less in sleep. */
export function basalEnergy(day: Day): SyntheticReading[] {
  const { person, life } = day.setting;
  const { gender, dateOfBirth } = person.profile ?? {};
  const sex = gender === 'male' ? 5 : -161;
  const age = ageOn(dateOfBirth, day.number);
  const daily = 10 * weightOn(day.setting, day.number) + 6.25 * life.body.heightCm - 5 * age + sex;
  const { state } = day.minutes;
  const size = life.devices.basalMinutes;
  const amount: Amount = (minute) => (daily / 1440) * (isAsleep(state[minute]) ? 0.95 : 1.03);
  return collect(day, 'Basal Calories', 'apple-watch', amount, size);
}

const BRISK_MET = 3.15;

/** Exercise: minutes at least at the pace of a brisk walk. */
export function exercise(day: Day): SyntheticReading[] {
  const { met, count } = day.minutes;
  const size = day.setting.life.devices.activityMinutes;
  const readings: SyntheticReading[] = [];
  let since: number | null = null;
  for (let minute = 0; minute <= count; minute += 1) {
    const isBrisk = minute < count && (met[minute] ?? 0) >= BRISK_MET && onWrist(day, minute) === 1;
    if (since !== null && (!isBrisk || minute - since >= size)) {
      const [start, end] = [day.start + since * MINUTE_MS, day.start + minute * MINUTE_MS];
      readings.push(interval('Exercise', start, end, minute - since, 'apple-watch'));
      since = null;
    }
    if (isBrisk) since ??= minute;
  }
  return readings;
}

/** Flights climbed, measured by the phone's barometer. */
export function flights(day: Day): SyntheticReading[] {
  return day.bouts
    .filter((bout) => bout.flights > 0 && bout.carriesPhone)
    .map(({ start, end, flights: climbed }) => interval('Flights', start, end, climbed, 'iphone'));
}

/** Sums intervals of the day with limited length, omitting empty ones. */
function collect(
  day: Day,
  type: 'Steps' | 'Distance' | 'Calories' | 'Basal Calories',
  source: Source,
  amount: Amount,
  size = day.setting.life.devices.activityMinutes,
): SyntheticReading[] {
  const readings: SyntheticReading[] = [];
  for (let from = 0; from < day.minutes.count; from += size) {
    let [sum, first, last] = [0, -1, -1];
    const to = Math.min(day.minutes.count, from + size);
    for (let minute = from; minute < to; minute += 1) {
      const part = amount(minute);
      if (part <= 0) continue;
      if (first < 0) first = minute;
      last = minute;
      sum += part;
    }
    if (first < 0) continue;
    const start = day.start + first * MINUTE_MS;
    const reading = interval(type, start, day.start + (last + 1) * MINUTE_MS, sum, source);
    if (reading.value > 0) readings.push(reading);
  }
  return readings;
}

function onWrist({ minutes }: Day, minute: number): 0 | 1 {
  return minutes.watchOff[minute] === 1 ? 0 : 1;
}

function inPocket({ minutes }: Day, minute: number): 0 | 1 {
  return minutes.phone[minute] === 1 ? 1 : 0;
}

/** Step length: about 0.414 of the height at 100 steps a minute, longer at higher speed, with a steeper increase for running. */
function metres({ minutes, setting }: Day, minute: number): number {
  const cadence = minutes.cadence[minute] ?? 0;
  const height = setting.life.body.heightCm / 100;
  return cadence * height * (cadence > 140 ? 0.6 : 0.31 + 0.104 * (cadence / 100));
}
