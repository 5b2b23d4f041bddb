import type { MetricName } from '@phds/catalog/metrics';
import { formatDay, HOUR_MS, MINUTE_MS, SECOND_MS, weekdayOf } from './calendar.ts';
import { type Bout, type Day, isIn, type StageSpan } from './day.ts';
import { interval, type Source, type SyntheticReading, sample } from './reading.ts';

const WATCH = 'apple-watch';
const PHONE = 'iphone';

/** What makes the readings of a day: every metric type once. */
export const TOPICS: readonly ((day: Day) => SyntheticReading[])[] = [
  heartRates,
  dailyHeartRates,
  variabilities,
  electrocardiograms,
  bloodPressures,
  sleepVitals,
  checkUps,
  glucose,
  temperatures,
  activity,
  basalEnergy,
  flights,
  sleep,
  ({ nights: [{ start, end }] }) => [span('Time in Bed', start, end, PHONE)],
  weighing,
  mindfulness,
];

// The measuring rates of a watch in power-saving mode, and of a phone: about 200 readings a day.
const HEART_RATE_SECONDS = 20 * 60;
const WORKOUT_HEART_RATE_SECONDS = 2 * 60;
const SLEEP_VITALS_MINUTES = 90;

const FASTEST_HEART = 170;

/** Frequently in workouts, rarely otherwise, as watches measure it. */
function heartRates(day: Day): SyntheticReading[] {
  const random = day.random('heart-rate');
  const readings: SyntheticReading[] = [];
  let at = day.start + random.between(0, HEART_RATE_SECONDS) * SECOND_MS;
  while (at < day.end) {
    const bout = day.bouts.find((each) => isIn(each, at));
    readings.push(sample('Heart Rate', at, heartRateOf(day, at, bout) + random.normal(0, 3), WATCH));
    const isWorkout = bout !== undefined && bout.kind !== 'stroll';
    at +=
      SECOND_MS * (isWorkout ? WORKOUT_HEART_RATE_SECONDS : HEART_RATE_SECONDS * random.between(0.7, 1.3));
  }
  return readings;
}

function heartRateOf(day: Day, at: number, bout: Bout | undefined): number {
  const resting = day.life.body.restingHeartRate;
  if (bout !== undefined) return resting + bout.effort * (FASTEST_HEART - resting);
  return resting + (isAsleep(day, at) ? -5 : 9);
}

function isAsleep({ nights }: Day, at: number): boolean {
  return nights.some(({ asleep, wake }) => isIn({ start: asleep, end: wake }, at));
}

function dailyHeartRates({ end, life, random }: Day): SyntheticReading[] {
  const numbers = random('daily-heart-rate');
  const resting = life.body.restingHeartRate + numbers.normal(0, 2);
  return [
    sample('Walking HR', end - 120 * MINUTE_MS, resting + numbers.between(24, 36), WATCH),
    sample('Resting HR', end - 30 * MINUTE_MS, resting, WATCH),
  ];
}

/** Higher in sleep than during the day. */
function variabilities(day: Day): SyntheticReading[] {
  const random = day.random('hrv');
  return [150, 330, 700, 1180].flatMap((minute) => {
    const at = day.start + (minute + random.integer(0, 25)) * MINUTE_MS;
    const usual = day.life.body.hrvMs * (isAsleep(day, at) ? 1.12 : 0.86);
    return at >= day.end ? [] : [sample('HRV', at, usual * random.between(0.75, 1.3), WATCH)];
  });
}

/** On Sundays while sitting. */
function electrocardiograms(day: Day): SyntheticReading[] {
  const random = day.random('ecg');
  const at = day.at(16 * 60 + random.integer(0, 60));
  if (weekdayOf(day.number) !== 0 || !isIn(day.waking, at)) return [];
  return [sample('ECG', at, day.life.body.restingHeartRate + random.normal(9, 3), WATCH)];
}

// People with high blood pressure also measure in the evening.
const MEASURES_TWICE = 130;

/** A pair has the same time and source. */
function bloodPressures(day: Day): SyntheticReading[] {
  const random = day.random('blood-pressure');
  const { systolic, diastolic } = day.life.body;
  const morning = day.waking.start + random.integer(8, 25) * MINUTE_MS;
  const evening = day.at(20 * 60 + random.integer(0, 45));
  const isTwice = systolic >= MEASURES_TWICE && isIn(day.waking, evening);
  return (isTwice ? [morning, evening] : [morning]).flatMap((at) => {
    const effect = random.normal(0, 6);
    return [
      sample('Blood Pressure', at, systolic + effect, 'omron'),
      sample('BP Diastolic', at, diastolic + effect * 0.6, 'omron'),
    ];
  });
}

function sleepVitals(day: Day): SyntheticReading[] {
  const random = day.random('sleep-vitals');
  const { spo2, breathsPerMinute } = day.life.body;
  const readings: SyntheticReading[] = [];
  for (let at = day.start; at < day.end; at += SLEEP_VITALS_MINUTES * MINUTE_MS) {
    if (!isAsleep(day, at)) continue;
    readings.push(
      sample('SPO2', at, Math.min(100, spo2 + random.normal(0, 0.7)), WATCH),
      sample('Respiratory Rate', at, breathsPerMinute + random.normal(0, 0.8), WATCH),
    );
  }
  return readings;
}

/** By hand, once a month. */
function checkUps({ number, waking, life, random }: Day): SyntheticReading[] {
  if (!formatDay(number).endsWith('-03')) return [];
  const at = waking.start + 20 * MINUTE_MS;
  const breaths = Math.round(life.body.breathsPerMinute + random('check-up').normal(1, 0.8));
  return [sample('Respiratory', at, breaths, 'manual'), sample('Height', at, life.body.heightCm, 'manual')];
}

const LONGEST_MEAL_MS = 5 * HOUR_MS;

/** Finger pricks before each meal and one and two hours after it. */
function glucose(day: Day): SyntheticReading[] {
  const random = day.random('glucose');
  const { lunchAt, dinnerAt } = day.life.habits;
  const meals = [day.waking.start + 30 * MINUTE_MS, day.at(lunchAt), day.at(dinnerAt)]
    .map((at) => at + random.integer(-20, 20) * MINUTE_MS)
    .filter((at) => isIn(day.waking, at));
  const { glucose: level, mealRise } = day.life.body;
  return meals
    .flatMap((meal) => [-5, 60, 120].map((after) => meal + after * MINUTE_MS))
    .filter((at) => isIn(day, at))
    .map((at) => {
      const rise = meals.reduce((sum, meal) => sum + mealRise * responseAfter(at - meal), 0);
      return sample('Glucose', at, level + rise + random.normal(0, 3), 'ihealth');
    });
}

/** The rise after a meal: 0 at first, 1 at the peak after 50 minutes, 0 after some hours. */
function responseAfter(sinceMeal: number): number {
  if (sinceMeal <= 0 || sinceMeal > LONGEST_MEAL_MS) return 0;
  const part = sinceMeal / (50 * MINUTE_MS);
  return part * Math.exp(1 - part);
}

/** Lower in the morning than in the evening. */
function temperatures(day: Day): SyntheticReading[] {
  const random = day.random('temperature');
  if (!random.chance(0.45)) return [];
  const hour = random.chance(0.7) ? 8 : 19;
  const at = day.at(hour * 60 + random.integer(0, 80));
  const value = (hour < 12 ? 36.4 : 36.75) + random.normal(0, 0.16);
  return isIn(day.waking, at) ? [sample('Temperature', at, value, 'ihealth')] : [];
}

/** Additive quantities of the waking hours, summed by hour; hours without any are omitted. */
function activity(day: Day): SyntheticReading[] {
  const { weightKg, heightCm } = day.life.body;
  const readings: SyntheticReading[] = [];
  for (let start = day.waking.start; start < day.waking.end; start += HOUR_MS) {
    const end = Math.min(start + HOUR_MS, day.waking.end);
    const total = (amountOf: (bout: Bout) => number) =>
      day.bouts.reduce((sum, bout) => sum + amountOf(bout) * sharedMinutes(bout, { start, end }), 0);
    const add = (type: MetricName, value: number, source: Source) => {
      const reading = interval(type, start, end, value, source);
      if (reading.value > 0) readings.push(reading);
    };
    const pocket = ({ carriesPhone }: Bout) => (carriesPhone ? 0.98 : 0);
    const metres = ({ cadence }: Bout) => (cadence * heightCm * (cadence > 140 ? 0.6 : 0.41)) / 100;
    const inPocket = (amountOf: (bout: Bout) => number) => total((bout) => amountOf(bout) * pocket(bout));
    const steps = ({ cadence }: Bout) => cadence;
    add('Steps', total(steps), WATCH);
    add('Steps', inPocket(steps), PHONE);
    add('Distance', total(metres), WATCH);
    add('Distance', inPocket(metres), PHONE);
    // One MET is 3.5 ml of oxygen per kilogram and minute; a litre of oxygen is 5 kcal.
    const calories = ({ met }: Bout) => ((met - 1) * 3.5 * weightKg) / 200;
    add('Calories', total(calories), WATCH);
    const exercise = ({ met }: Bout) => (met >= 3 ? 1 : 0);
    add('Exercise', total(exercise), WATCH);
  }
  return readings;
}

function sharedMinutes(one: Bout, other: { readonly start: number; readonly end: number }): number {
  const shared = Math.min(one.end, other.end) - Math.max(one.start, other.start);
  return Math.max(0, shared) / MINUTE_MS;
}

/** Kilocalories at rest, about 21 a day for each kilogram. */
function basalEnergy(day: Day): SyntheticReading[] {
  const perMinute = (21 * day.life.body.weightKg) / (24 * 60);
  const readings: SyntheticReading[] = [];
  for (let start = day.start; start < day.end; start += HOUR_MS) {
    const end = Math.min(day.end, start + HOUR_MS);
    readings.push(interval('Basal Calories', start, end, perMinute * ((end - start) / MINUTE_MS), WATCH));
  }
  return readings;
}

/** Measured by the phone's barometer. */
function flights({ bouts, random }: Day): SyntheticReading[] {
  const numbers = random('flights');
  return bouts
    .filter(({ kind, carriesPhone }) => kind === 'stroll' && carriesPhone && numbers.chance(0.4))
    .map(({ start, end }) => interval('Flights', start, end, numbers.integer(1, 3), PHONE));
}

const STAGE_TYPES: Readonly<Record<StageSpan['stage'], MetricName>> = {
  deep: 'Sleep Deep',
  core: 'Sleep Core',
  rem: 'Sleep REM',
  awake: 'Sleep Awake',
};

/** The stages, and the intervals between awakenings, which sum to the time asleep. */
function sleep({ nights: [{ stages, asleep, wake }] }: Day): SyntheticReading[] {
  const awakenings = stages.filter(({ stage }) => stage === 'awake');
  const starts = [asleep, ...awakenings.map(({ end }) => end)];
  const ends = [...awakenings.map(({ start }) => start), wake];
  return [
    ...starts.map((start, index) => span('Sleep', start, ends[index] ?? wake, WATCH)),
    ...stages.map(({ stage, start, end }) => span(STAGE_TYPES[stage], start, end, WATCH)),
  ].filter(({ start, end }) => start < end);
}

function span(type: MetricName, start: number, end: number, source: Source): SyntheticReading {
  return interval(type, start, end, (end - start) / MINUTE_MS, source);
}

/** In the morning of most days. Body fat follows the weight, which changes slowly. */
function weighing({ number, nights, life, random }: Day): SyntheticReading[] {
  const numbers = random('scale');
  if (numbers.chance(0.25)) return [];
  const { weightKg, heightCm, bodyFatPercent } = life.body;
  const at = nights[0].end + numbers.integer(4, 12) * MINUTE_MS;
  const weight = weightKg * (1 + 0.012 * Math.sin(number / 25)) + numbers.normal(0, 0.28);
  return [
    sample('Weight', at, weight, 'withings'),
    sample('BMI', at, weight / (heightCm / 100) ** 2, 'withings'),
    sample('Body Fat', at, bodyFatPercent + (weight - weightKg) * 0.45, 'withings'),
  ];
}

/** A few minutes in the morning, on some days. */
function mindfulness({ waking, random }: Day): SyntheticReading[] {
  const numbers = random('mindfulness');
  if (!numbers.chance(0.45)) return [];
  const start = waking.start + 5 * MINUTE_MS;
  return [span('Mindfulness', start, start + numbers.integer(3, 20) * MINUTE_MS, 'headspace')];
}
