import { getMetric, type MetricKey } from '@phds/catalog/metrics';

/** A row of `reading`; instants in milliseconds. */
export interface ReadingRow {
  readonly type: MetricKey;
  readonly start: number;
  readonly end: number;
  readonly value: number | null;
  readonly source: string;
}

type Valued = ReadingRow & { readonly value: number };

const QUARTER = 900_000;

/** The rows of the tables derived from readings, one text each, computed one after another. */
export function computeDerived(readings: readonly ReadingRow[]): string[] {
  return [...computeCounts(readings), ...computeQuarters(readings)].sort();
}

function computeCounts(readings: readonly ReadingRow[]): string[] {
  const covered = readings.flatMap(({ type, start }) => [
    `${type} day ${new Date(start).toISOString().slice(0, 10)}`,
    `${type} all -infinity`,
  ]);
  return [...Map.groupBy(covered, (text) => text)].map(
    ([text, rows]) => `reading_count ${text} ${rows.length}`,
  );
}

function computeQuarters(readings: readonly ReadingRow[]): string[] {
  const valued = readings.filter((reading): reading is Valued => reading.value !== null);
  const quarters = Map.groupBy(valued, ({ type, start, end, source }) => {
    const at = getMetric(type).bucketBy === 'end' ? end : start;
    return `${type} ${new Date(Math.floor(at / QUARTER) * QUARTER).toISOString().slice(0, 16)} ${source}`;
  });
  return [...quarters].map(([key, rows]) => `reading_quarter ${key} ${toNumbers(rows).join(' ')}`);
}

function toNumbers(rows: readonly Valued[]): number[] {
  const { kind, referenceRange } = getMetric(rows[0]?.type ?? 'steps');
  const values = rows.map(({ value }) => value);
  const { low, high } = (kind === 'average' ? referenceRange : null) ?? {
    low: Number.NEGATIVE_INFINITY,
    high: Number.POSITIVE_INFINITY,
  };
  return [
    rows.length,
    // Exact for values with at most three decimals.
    values.reduce((sum, value) => sum + Math.round(value * 1000), 0) / 1000,
    Math.min(...values),
    Math.max(...values),
    values.filter((value) => value < low).length,
    values.filter((value) => value > high).length,
  ];
}
