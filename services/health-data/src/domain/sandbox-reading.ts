import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Category } from '@phds/catalog/categories';
import { type Metric, metricsOfCategory, roundToDecimals } from '@phds/catalog/metrics';
import type { ReadingDraft } from './reading.ts';

/** An ordinary value of the first type of each category. */
const ORDINARY: Readonly<Record<Category, number>> = {
  heart: 68,
  'blood-pressure': 118,
  oxygen: 97,
  respiratory: 14,
  glucose: 92,
  temperature: 36.7,
  activity: 40,
  sleep: 30,
  'body-composition': 68,
  mindfulness: 10,
};

const SOURCE = 'apple-watch';

/** Steps of the last decimal by which values differ. */
const STEPS = 5;

/** A reading that arrives now. Its value depends on the time only. */
export function toArrival(category: Category, now: Date): ReadingDraft {
  const seconds = Math.floor(now.getTime() / 1000);
  const start = timestampFromMs(seconds * 1000);
  const metric = firstMetric(category);
  const value = shift(metric, ORDINARY[category], (seconds % (2 * STEPS + 1)) - STEPS);
  return { type: metric.name, start, value, unit: '', source: SOURCE };
}

/** The same reading with another value. */
export function toCorrection(
  reading: ReadingDraft & { readonly value: number },
  metric: Metric,
): ReadingDraft {
  const higher = shift(metric, reading.value, STEPS);
  const isPlausible = higher <= metric.plausible.max;
  return { ...reading, value: isPlausible ? higher : shift(metric, reading.value, -STEPS) };
}

function firstMetric(category: Category): Metric {
  const [metric] = metricsOfCategory(category);
  if (metric === undefined) throw new RangeError(`${category} has no metric type`);
  return metric;
}

function shift({ decimals }: Metric, value: number, steps: number): number {
  return roundToDecimals(value + steps / 10 ** decimals, decimals);
}
