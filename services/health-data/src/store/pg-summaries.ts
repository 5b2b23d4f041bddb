import type { MetricKey } from '@phds/catalog/metrics';
import { createTurns, type TurnLimits, type Turns } from '@phds/service-kit/batcher';
import { invalidRequest } from '@phds/service-kit/errors';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { toHalf } from '@phds/service-kit/postgres/postgres';
import type pg from 'pg';
import type { SummaryQuery, SummaryReader } from '../app/ports.ts';
import type { MetricSummary, TrendPoint } from '../domain/summary.ts';
import { notBefore } from '../domain/window.ts';
import { lowerBound, readWithin } from './database.ts';
import { type SummaryStatement, toAggregation, toTrend } from './summary-statements.ts';

/** Limits of large summaries. */
export interface ScanLimits extends Pick<TurnLimits, 'maxQueued' | 'maxWaitMs'> {
  /** Milliseconds. */
  readonly statementTimeoutMs: number;
}

/** Maximum number of these at once, if the pool has twice as many connections; one app uses at most half of the slots. */
const SCANS = 4;

/** Summaries of longer periods of more readings than this are large: they take up to a second. */
const LARGE_MS = 2 * 366 * 86_400_000;
const LARGE_READINGS = 300_000;

const COUNT = `
  SELECT coalesce(sum(count), 0)::float8 AS total FROM reading_count
  WHERE user_id = $1 AND type = ANY($2::text[]) AND span = $3 AND start_at >= $4::timestamptz`;

/**
 * Computes summaries from quarter hours, and from readings where a window cuts one. The duration grows with the number of
 * quarter hours, so only a few large ones run at once, shared fairly between apps, and other work finds connections. Other statements
 * take turns in `reads`.
 */
export function createPgSummaries(pool: pg.Pool, limits: ScanLimits, reads?: Turns): SummaryReader {
  const atOnce = Math.min(SCANS, toHalf(pool));
  const turns = createTurns({ ...limits, atOnce, perKey: Math.ceil(atOnce / 2) });
  const isLarge = async ({ userId, metrics, range, since }: SummaryQuery) => {
    const { from, to } = notBefore(range, since);
    if (from !== null && to !== null && to.getTime() - from.getTime() <= LARGE_MS) return false;
    const values = [userId, metrics, from === null ? 'all' : 'day', lowerBound(from)];
    const { rows } = await pool.query<{ total: number }>({ name: 'count-summarised', text: COUNT, values });
    return (rows[0]?.total ?? 0) > LARGE_READINGS;
  };
  const ask = async <Row extends pg.QueryResultRow>(query: SummaryQuery, statement: SummaryStatement) => {
    const { askedBy } = query;
    if (await isLarge(query)) {
      const scan = (client: pg.ClientBase) => asked(client.query<Row>(statement));
      return (await turns(askedBy, () => readWithin(pool, limits.statementTimeoutMs, scan))).rows;
    }
    const ask = () => asked(pool.query<Row>(statement));
    return (await (reads?.(askedBy, ask) ?? ask())).rows;
  };
  return translatingErrors({
    async summarise(query) {
      const rows = await ask<SummaryRow>(query, toAggregation(query));
      const byType = new Map(rows.map((row) => [row.type, toSummary(row)]));
      return query.metrics.flatMap((metric) => byType.get(metric) ?? []);
    },
    async trend(query) {
      const rows = await ask<PointRow | NoPoint>(query, toTrend(query));
      return { items: rows.filter(isPoint).map(toPoint), total: rows[0]?.total ?? 0 };
    },
  });
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

interface SummaryRow {
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

interface PointRow {
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

interface NoPoint {
  total: number;
  type: null;
}

function isPoint(row: PointRow | NoPoint): row is PointRow {
  return row.type !== null;
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
