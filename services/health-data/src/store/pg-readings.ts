import type { Category } from '@phds/catalog/categories';
import { METRICS, type MetricKey } from '@phds/catalog/metrics';
import type pg from 'pg';
import type { ReadingQuery, ReadingReader } from '../app/ports.ts';
import type { Reading } from '../domain/reading.ts';
import { lowerBound, TEXT_ROWS, toTimestamp, translated, upperBound } from './database.ts';

type Row = readonly [
  id: string,
  type: MetricKey,
  value: string | null,
  source: string,
  start: string,
  total: string,
];

/**
 * The hot path: one prepared statement answers the page and the total. The total comes from the kept counts, or with a
 * window from the index; as an uncorrelated subquery it is computed once, and it travels in each row because a second
 * statement would cost more than twenty small numbers.
 */
export function createPgReadings(pool: pg.Pool): ReadingReader {
  const ask = async (statement: Statement) => {
    const result = await pool.query<Row[]>({ ...TEXT_ROWS, ...statement });
    // With rowMode 'array' a row is the array itself, which the driver's types have no words for.
    return result.rows as unknown as Row[];
  };
  return {
    list: (query) =>
      translated(async () => {
        const rows = await ask(toStatement(query));
        if (rows[0] !== undefined) return { items: rows.map(toReading), total: Number(rows[0][5]) };
        if (query.offset === 0) return { items: [], total: 0 };
        // Beyond the end there is no row to carry the total: the first row of the list has it.
        const first = await ask(toStatement({ ...query, limit: 1, offset: 0 }));
        return { items: [], total: Number(first[0]?.[5] ?? 0) };
      }),
  };
}

interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

/** The statement for a query; exported so that a test can ask how Postgres runs it. */
export function toStatement(query: ReadingQuery): Statement {
  const { userId, category, metric, range, limit, offset } = query;
  const windowed = range.from !== null || range.to !== null;
  const column = metric === null ? 'category' : 'type';
  const values: unknown[] = [userId, metric ?? category, limit, offset];
  if (windowed) values.push(lowerBound(range.from), upperBound(range.to));
  else values.push(metric === null ? toTypes(category) : [metric]);
  return {
    name: `readings-${column}${windowed ? '-window' : ''}`,
    text: TEXTS[column][`${windowed}`],
    values,
  };
}

const TEXTS = {
  category: { true: toText('category', true), false: toText('category', false) },
  type: { true: toText('type', true), false: toText('type', false) },
};

function toText(column: 'category' | 'type', windowed: boolean): string {
  const window = windowed ? 'AND start_at >= $5::timestamptz AND start_at < $6::timestamptz' : '';
  const total = windowed
    ? `SELECT count(*) FROM reading WHERE user_id = $1 AND ${column} = $2 ${window}`
    : `SELECT coalesce(sum(count), 0) FROM reading_count WHERE user_id = $1 AND type = ANY($5) AND span = 'all'`;
  return `
    SELECT id, type, value, source, start_at, (${total}) FROM reading
    WHERE user_id = $1 AND ${column} = $2 ${window}
    ORDER BY start_at DESC, id DESC LIMIT $3 OFFSET $4`;
}

function toTypes(category: Category): MetricKey[] {
  return METRICS.filter((metric) => metric.category === category).map(({ key }) => key);
}

function toReading([id, metric, value, source, start]: Row): Reading {
  return { id, metric, value: value === null ? null : Number(value), source, timestamp: toTimestamp(start) };
}
