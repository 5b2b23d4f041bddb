import type { Metric } from '@phds/catalog/metrics';
import { METRICS } from '@phds/catalog/metrics';

// Values of the catalog, as parameters of the statements that build rollups.

/** How readings of a metric type are combined to hours. */
export type Gathering = 'average' | 'by-start' | 'by-end';

function toGathering({ kind, bucketBy }: Metric): Gathering {
  if (kind === 'average') return 'average';
  return bucketBy === 'end' ? 'by-end' : 'by-start';
}

function toTypes(metrics: readonly Metric[]): string[] {
  return metrics.map(({ key }) => key);
}

const additive = METRICS.filter(({ kind }) => kind === 'additive');

export const ADDITIVE_TYPES = toTypes(additive);

/** The metric types of each gathering. */
export const TYPES = {
  average: toTypes(METRICS.filter((metric) => toGathering(metric) === 'average')),
  'by-start': toTypes(METRICS.filter((metric) => toGathering(metric) === 'by-start')),
  'by-end': toTypes(METRICS.filter((metric) => toGathering(metric) === 'by-end')),
} as const satisfies Record<Gathering, readonly string[]>;

function toRanges(metrics: readonly Metric[]): readonly unknown[] {
  const known = metrics.filter(({ referenceRange }) => referenceRange !== null);
  return [
    toTypes(known),
    known.map(({ referenceRange }) => referenceRange?.low),
    known.map(({ referenceRange }) => referenceRange?.high),
  ];
}

/** Reference ranges as three columns: metric type, low, high. */
export const RANGES = {
  average: toRanges(METRICS.filter(({ kind }) => kind === 'average')),
  additive: toRanges(additive),
} as const;
