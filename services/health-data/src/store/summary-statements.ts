import { getMetric } from '@phds/catalog/metrics';
import type { TrendBucket } from '@phds/catalog/wire-names';
import { readStatement, type Statement } from '@phds/service-kit/postgres/statement';
import type { Slice, SummaryQuery } from '../app/ports.ts';
import type { SummaryCover } from '../domain/summary-cover.ts';
import { notBefore } from '../domain/window.ts';
import { lowerBound, upperBound } from './database.ts';
import { ROLLUP_VERSION } from './rollup-version.ts';

const AGGREGATION = readStatement(new URL('sql/aggregation.sql', import.meta.url));

const TRENDS: Readonly<Record<TrendBucket, Statement>> = {
  day: readStatement(new URL('sql/trend-day.sql', import.meta.url)),
  hour: readStatement(new URL('sql/trend-hour.sql', import.meta.url)),
};

/** A statement with its values. */
export interface SummaryStatement extends Statement {
  readonly values: unknown[];
}

export function toAggregation(query: SummaryQuery, cover: SummaryCover): SummaryStatement {
  const { from, to } = notBefore(query.range, query.since);
  const spans = cover.spans.map((run) =>
    run.from === null && run.to === null ? { ...run, span: 'all' } : run,
  );
  const values = [...toSharedValues(query, cover, spans), lowerBound(from), upperBound(to)];
  return { ...AGGREGATION, values };
}

export function toTrend(
  query: SummaryQuery & Slice & { readonly bucket: TrendBucket },
  cover: SummaryCover,
): SummaryStatement {
  const values = [...toSharedValues(query, cover, cover.spans), query.limit, query.offset];
  return { ...TRENDS[query.bucket], values };
}

type SpanRuns = readonly (Omit<SummaryCover['spans'][number], 'span'> & { readonly span: string })[];

/** Values $1 to $20, shared by the statements. */
function toSharedValues(
  { userId, timeZone, metrics, since }: SummaryQuery,
  { readings, hours, rollupZone }: SummaryCover,
  spans: SpanRuns,
): unknown[] {
  const types = metrics.map(getMetric);
  return [
    userId,
    timeZone,
    ROLLUP_VERSION,
    metrics,
    types.map(({ kind }) => kind),
    types.map(({ bucketBy }) => bucketBy),
    types.map(({ referenceRange }) => referenceRange?.low ?? null),
    types.map(({ referenceRange }) => referenceRange?.high ?? null),
    lowerBound(since),
    readings.map(({ by }) => by),
    readings.map(({ from }) => lowerBound(from)),
    readings.map(({ to }) => upperBound(to)),
    spans.map(({ by }) => by),
    spans.map(({ span }) => span),
    spans.map(({ from }) => lowerBound(from)),
    spans.map(({ to }) => upperBound(to)),
    hours.map(({ by }) => by),
    hours.map(({ from }) => lowerBound(from)),
    hours.map(({ to }) => upperBound(to)),
    rollupZone,
  ];
}
