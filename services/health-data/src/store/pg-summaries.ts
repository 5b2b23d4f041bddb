import type { MetricKey } from '@phds/catalog/metrics';
import { getMetric } from '@phds/catalog/metrics';
import { createTurns, type TurnLimits, type Turns } from '@phds/service-kit/batcher';
import { invalidRequest } from '@phds/service-kit/errors';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { toHalf } from '@phds/service-kit/postgres/postgres';
import type pg from 'pg';
import type { SummaryQuery, SummaryReader } from '../app/ports.ts';
import type { MetricSummary, TrendPoint } from '../domain/summary.ts';
import { coverByHours, coverByReadings, coverByRollups, type SummaryCover } from '../domain/summary-cover.ts';
import { haveSameHours } from '../domain/time-zone.ts';
import { readWithin } from './database.ts';
import { type SummaryStatement, toAggregation, toTrend } from './summary-statements.ts';

interface AnyRow {
  /** Whether the required rollups exist. */
  readonly usable: boolean;
  /** The zone of the existing rollups; null for none. */
  readonly time_zone: string | null;
}

/** Limits of the summaries computed from readings. */
export interface ScanLimits extends Pick<TurnLimits, 'maxQueued' | 'maxWaitMs'> {
  /** Milliseconds. */
  readonly statementTimeoutMs: number;
}

/** Maximum number of these at once, if the pool has twice as many connections; one app uses at most half of the slots. */
const SCANS = 4;

/**
 * Computes summaries from rollups, and from readings where a window cuts an hour. For a zone other than that of the rollups it uses
 * hours if these are the same, else the readings, as it does without rollups. The duration then grows with the number of readings,
 * so only a few run at once, shared fairly between apps, and other work finds connections. Other statements take turns in `reads`.
 */
export function createPgSummaries(pool: pg.Pool, limits: ScanLimits, reads?: Turns): SummaryReader {
  const atOnce = Math.min(SCANS, toHalf(pool));
  const turns = createTurns({ ...limits, atOnce, perKey: Math.ceil(atOnce / 2) });
  const ask = async <Row extends AnyRow>(
    query: SummaryQuery,
    toStatement: (cover: SummaryCover) => SummaryStatement,
  ): Promise<Row[]> => {
    const { timeZone, metrics } = query;
    const ways = [...new Set(metrics.map((metric) => getMetric(metric).bucketBy))];
    const run = async (cover: SummaryCover) => {
      const ask = () => asked(pool.query<Row>(toStatement(cover)));
      return (await (reads?.(query.askedBy, ask) ?? ask())).rows;
    };
    const rows = await run(coverByRollups(query, timeZone, ways));
    if (rows[0]?.usable === true) return rows;
    const other = rows[0]?.time_zone ?? null;
    if (other !== null && haveSameHours(other, timeZone)) {
      const rowsOfHours = await run(coverByHours(query, timeZone, other, ways));
      if (rowsOfHours[0]?.usable === true) return rowsOfHours;
    }
    const statement = toStatement(coverByReadings(query, ways));
    const scan = (client: pg.ClientBase) => asked(client.query<Row>(statement));
    const result = await turns(query.askedBy, () => readWithin(pool, limits.statementTimeoutMs, scan));
    return result.rows;
  };
  return translatingErrors({
    async summarise(query) {
      const rows = await ask<SummaryRow | NoRow>(query, (cover) => toAggregation(query, cover));
      const byType = new Map(rows.filter(isRow).map((row) => [row.type, toSummary(row)]));
      return query.metrics.flatMap((metric) => byType.get(metric) ?? []);
    },
    async trend(query) {
      const rows = await ask<PointRow | (NoRow & { total: number })>(query, (cover) => toTrend(query, cover));
      return { items: rows.filter(isRow).map(toPoint), total: rows[0]?.total ?? 0 };
    },
  });
}

interface NoRow extends AnyRow {
  readonly type: null;
}

function isRow<Row extends { readonly type: MetricKey | null }>(
  row: Row,
): row is Exclude<Row, { readonly type: null }> {
  return row.type !== null;
}

const UNKNOWN_ZONE = '22023';

/** Postgres may lack a zone that JavaScript knows; that is an invalid parameter, not an internal error. */
async function asked<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if ((error as { code?: unknown }).code !== UNKNOWN_ZONE) throw error;
    throw invalidRequest('timeZone', 'is not a known time zone');
  }
}

interface SummaryRow extends AnyRow {
  type: MetricKey;
  count: number;
  sum: number;
  min: number;
  max: number;
  below: number;
  above: number;
  at: Date;
  latest: number;
}

function toSummary(row: SummaryRow): MetricSummary {
  const { type: metric, count, sum, min, max, below, above } = row;
  return { metric, count, sum, min, max, below, above, latest: { value: row.latest, at: row.at } };
}

interface PointRow extends AnyRow {
  total: number;
  type: MetricKey;
  start: Date;
  end: Date;
  count: number;
  sum: number;
  min: number;
  max: number;
  start_offset: number;
  end_offset: number;
}

function toPoint(row: PointRow): TrendPoint {
  const { type: metric, start, end, count, sum, min, max } = row;
  return {
    metric,
    start,
    startOffsetMinutes: Math.trunc(row.start_offset / 60),
    end,
    endOffsetMinutes: Math.trunc(row.end_offset / 60),
    count,
    sum,
    min,
    max,
  };
}
