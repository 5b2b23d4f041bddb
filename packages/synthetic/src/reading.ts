import { METRICS, type MetricName } from '@phds/catalog/metrics';
import { SECOND_MS } from './calendar.ts';

/** The source label stored with a reading, as the importers assign it. */
export type Source = 'apple-watch' | 'iphone' | 'manual' | 'withings' | 'omron' | 'ihealth' | 'headspace';

/** One measured value in the unit and with the decimals of its type. */
export interface SyntheticReading {
  readonly type: MetricName;
  /** Milliseconds since the epoch, whole seconds. */
  readonly start: number;
  readonly end: number;
  readonly value: number;
  readonly source: Source;
}

const scales = new Map<string, number>(METRICS.map(({ name, decimals }) => [name, 10 ** decimals]));

/** A reading at one instant. */
export function sample(type: MetricName, at: number, value: number, source: Source): SyntheticReading {
  return interval(type, at, at, value, source);
}

/** A reading over an interval. */
export function interval(
  type: MetricName,
  start: number,
  end: number,
  value: number,
  source: Source,
): SyntheticReading {
  const scale = scales.get(type) ?? 1;
  return {
    type,
    start: wholeSecond(start),
    end: wholeSecond(end),
    value: Math.round(value * scale) / scale,
    source,
  };
}

function wholeSecond(instant: number): number {
  return Math.floor(instant / SECOND_MS) * SECOND_MS;
}
