import type { Metric } from '@phds/catalog/metrics';
import { METRICS } from '@phds/catalog/metrics';

// What the statements that make rollups share. Values: $1 the user, $2 the zone, and to recompute a part $3 and $4: metric types and
// touched hours, in pairs. The parts of the catalog stand in the texts: they change with the code only.

/** How readings of a metric type become hours. */
export type Gathering = 'average' | 'by-start' | 'by-end';

const GATHERINGS: readonly Gathering[] = ['average', 'by-start', 'by-end'];

function toGathering({ kind, bucketBy }: Metric): Gathering {
  if (kind === 'average') return 'average';
  return bucketBy === 'end' ? 'by-end' : 'by-start';
}

function toTypes(gathering: Gathering): string {
  const keys = METRICS.filter((metric) => toGathering(metric) === gathering).map(({ key }) => key);
  return `'{${keys.join(',')}}'::text[]`;
}

/** The metric types of each gathering, as an array. */
export const TYPES = {
  average: toTypes('average'),
  'by-start': toTypes('by-start'),
  'by-end': toTypes('by-end'),
} as const satisfies Record<Gathering, string>;

/** An expression: the gathering of a type. */
export const GATHERING = `CASE ${GATHERINGS.map((name) => `WHEN type = ANY(${TYPES[name]}) THEN '${name}'`).join(' ')} END`;

/** An expression: the hour of the user's zone in which a reading counts. */
export const KEYED_HOUR = `date_trunc('hour', CASE WHEN type = ANY(${TYPES['by-end']}) THEN end_at ELSE start_at END, $2)`;

/** Rows of metric types with a reference range: `normal(type, low, high)`. */
export function toRanges(additive: boolean): string {
  const rows = METRICS.flatMap(({ key, kind, referenceRange }) => {
    if (referenceRange === null || (kind === 'additive') !== additive) return [];
    return [`('${key}', ${referenceRange.low}::float8, ${referenceRange.high}::float8)`];
  });
  return `(VALUES ${rows.join(', ')}) AS normal(type, low, high)`;
}

/** The pairs of $3 and $4. */
export const TOUCHED = 'unnest($3::text[], $4::timestamptz[]) AS touched(type, hour)';

/** A local date, generously in instants: an hour's first instant may lie a little outside of the date it belongs to. */
export const AROUND_DAY = (column: string, hoursBefore: number) => `
  ${column} >= timezone($2, day::timestamp) - interval '${hoursBefore} hours'
  AND ${column} < timezone($2, (day + 1)::timestamp) + interval '2 hours'`;

// Values have at most two decimals. Rounded, a sum is the float nearest to the true one, in whatever order it was added
// up: rows that were recomputed and rows that were rebuilt are the same to the last bit.
/** The sum of values, or of sums, as it is stored. */
export const toSum = (column: string) => `round(sum(${column})::numeric, 3)::float8`;
