import { formatDay, MINUTE_MS } from '../calendar.ts';
import type { Day } from '../plan/day.ts';
import type { Setting } from '../plan/setting.ts';
import { interval, type SyntheticReading, sample } from '../reading.ts';

const SCALE = 'withings';
const CHECK_UP_DATE = '03';

/** kg; higher in winter, with a drift over weeks. */
export function weightOn({ life, drift }: Pick<Setting, 'life' | 'drift'>, day: number): number {
  const season = 0.009 * Math.cos((2 * Math.PI * ((day % 365.25) - 15)) / 365.25);
  return life.body.weightKg * (1 + season + drift(day, 'weight', 45) * 0.011);
}

/** The weight on the scale in the morning; null on days without a weighing. */
function weighing(day: Day): { readonly at: number; readonly weight: number } | null {
  const random = day.random('scale');
  if (random.chance(0.25)) return null;
  const at = day.night.outOfBed + random.integer(4, 12) * MINUTE_MS;
  return { at, weight: weightOn(day.setting, day.number) + random.normal(0, 0.28) };
}

export function weights(day: Day): SyntheticReading[] {
  const weighed = weighing(day);
  return weighed === null ? [] : [sample('Weight', weighed.at, weighed.weight, SCALE)];
}

/** BMI from weight and height. */
export function bodyMassIndices(day: Day): SyntheticReading[] {
  const weighed = weighing(day);
  const metres = day.setting.life.body.heightCm / 100;
  return weighed === null ? [] : [sample('BMI', weighed.at, weighed.weight / metres ** 2, SCALE)];
}

/** Body fat, which follows the weight. */
export function bodyFats(day: Day): SyntheticReading[] {
  const weighed = weighing(day);
  if (weighed === null) return [];
  const { bodyFatPercent, weightKg } = day.setting.life.body;
  const value = bodyFatPercent + (weighed.weight - weightKg) * 0.45 + day.random('fat').normal(0, 0.25);
  return [sample('Body Fat', weighed.at, value, SCALE)];
}

/** Whether this is the day of the month for manual measurements. */
export function isCheckUp({ number }: Day): boolean {
  return formatDay(number).endsWith(`-${CHECK_UP_DATE}`);
}

/** Height, once a month. */
export function heights(day: Day): SyntheticReading[] {
  const at = day.night.outOfBed + 20 * MINUTE_MS;
  return isCheckUp(day) ? [sample('Height', at, day.setting.life.body.heightCm, 'manual')] : [];
}

/** Mindfulness: a few minutes in the morning or before bed, on some days. */
export function mindfulness(day: Day): SyntheticReading[] {
  const random = day.random('mindfulness');
  if (!random.chance(0.45)) return [];
  const minutes = random.pick([3, 5, 10, 15, 20]);
  const start = random.chance(0.5)
    ? day.waking.from + 5 * MINUTE_MS
    : day.waking.to - random.integer(45, 80) * MINUTE_MS;
  return [interval('Mindfulness', start, start + minutes * MINUTE_MS, minutes, 'headspace')];
}
