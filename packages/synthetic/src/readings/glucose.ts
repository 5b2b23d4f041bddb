import { HOUR_MS, MINUTE_MS } from '../calendar.ts';
import type { Day } from '../plan/day.ts';
import { type SyntheticReading, sample } from '../reading.ts';

const SENSOR = 'dexcom';
const METER = 'ihealth';
const DIGESTION_MINUTES = 8;
const LONGEST_MS = 6 * HOUR_MS;

/** Glucose from a sensor every few minutes, or from finger pricks around meals. */
export function glucose(day: Day): SyntheticReading[] {
  const { glucoseMinutes } = day.setting.life.devices;
  return glucoseMinutes === null ? fingerPricks(day) : sensorValues(day, glucoseMinutes);
}

function sensorValues(day: Day, every: number): SyntheticReading[] {
  const random = day.random('glucose');
  const readings: SyntheticReading[] = [];
  let noise = random.normal(0, 3);
  for (let minute = 0; minute < day.minutes.count; minute += every) {
    noise = noise * 0.85 + random.normal(0, 1.6);
    const at = day.start + minute * MINUTE_MS;
    readings.push(sample('Glucose', at, Math.max(45, glucoseAt(day, at) + noise), SENSOR));
  }
  return readings;
}

/** Before each meal, one and two hours after it, and before bed. */
function fingerPricks(day: Day): SyntheticReading[] {
  const random = day.random('glucose');
  const meals = day.meals.filter(({ at, size }) => at >= day.start && size > 0.6);
  const times = meals.flatMap(({ at }) => [-5, 60, 120].map((after) => at + after * MINUTE_MS));
  const last = times.at(-1) ?? day.start;
  const bedtime = day.waking.to - 15 * MINUTE_MS;
  if (bedtime > last + 20 * MINUTE_MS) times.push(bedtime);
  return times
    .filter((at) => at >= day.waking.from && at < day.waking.to)
    .map((at) => sample('Glucose', at, Math.max(45, glucoseAt(day, at) + random.normal(0, 4)), METER));
}

/** mg/dL from the level before meals, the dawn phenomenon, digestion, exercise and illness. */
function glucoseAt(day: Day, at: number): number {
  const { glucose: level, mealRise, mealPeak } = day.setting.life.body;
  const dawn = Math.exp(-(((at - day.night.wake) / (1.5 * HOUR_MS)) ** 2)) * level * 0.06;
  let value = level + dawn + day.illness * level * 0.1;
  for (const meal of day.meals) {
    if (at > meal.at && at < meal.at + LONGEST_MS)
      value += meal.size * mealRise * response(at - meal.at, mealPeak);
  }
  for (const { start, end, effort } of day.bouts) {
    if (effort < 0.35 || at < start) continue;
    const burning = Math.min(1, (at - start) / (30 * MINUTE_MS));
    value -= level * 0.16 * effort * burning * Math.exp(-Math.max(0, at - end) / (0.8 * HOUR_MS));
  }
  return value;
}

/**
 * The rise of glucose after a meal: 0 at first, 1 at the peak, 0 after some hours. The peak is after 46 to 50 minutes on average in
 * people without diabetes (Freckmann et al., J Diabetes Sci Technol 2007), after 72 with it (Daenen et al., Diabetes Metab 2010).
 */
function response(sinceMeal: number, peakMinutes: number): number {
  const minutes = sinceMeal / MINUTE_MS - DIGESTION_MINUTES;
  if (minutes <= 0) return 0;
  const part = minutes / peakMinutes;
  return (part * Math.exp(1 - part)) ** 1.6;
}
