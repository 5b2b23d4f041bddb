import type { MetricKey } from '@phds/catalog/metrics';
import type pg from 'pg';
import type { Page, ReadingQuery, ReadingReader } from '../app/ports.ts';
import type { Reading } from '../domain/reading.ts';
import { lowerBound, TEXT_ROWS, toTimestamp, translated, upperBound } from './database.ts';

type Row = readonly [
  id: string | null,
  type: MetricKey,
  value: string | null,
  source: string,
  start: string,
  total: string,
];

/**
 * The hot path: one prepared statement a request answers the page and the total. The total comes from the kept counts,
 * or with a window from the index. The left join keeps the total when the page lies beyond the end.
 */
export function createPgReadings(pool: pg.Pool): ReadingReader {
  return {
    list: (query) =>
      translated(async () => {
        const result = await pool.query<Row[]>({ ...TEXT_ROWS, ...toStatement(query) });
        return toPage(result.rows as unknown as Row[]);
      }),
  };
}

/** The statement for a query; exported so that a test can ask how Postgres runs it. */
export function toStatement(query: ReadingQuery): { name: string; text: string; values: unknown[] } {
  const { userId, category, metric, range, limit, offset } = query;
  const windowed = range.from !== null || range.to !== null;
  const column = metric === null ? 'category' : 'type';
  const values: unknown[] = [userId, metric ?? category, limit, offset];
  if (windowed) values.push(lowerBound(range.from), upperBound(range.to));
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
    : `SELECT coalesce(sum(count), 0) FROM reading_count WHERE user_id = $1 AND ${column} = $2`;
  return `
    SELECT page.id, page.type, page.value, page.source, page.start_at, counted.total
    FROM (${total}) AS counted(total)
    LEFT JOIN LATERAL (
      SELECT id, type, value, source, start_at FROM reading
      WHERE user_id = $1 AND ${column} = $2 ${window}
      ORDER BY start_at DESC, id DESC LIMIT $3 OFFSET $4
    ) AS page ON true
    ORDER BY page.start_at DESC, page.id DESC`;
}

function toPage(rows: readonly Row[]): Page<Reading> {
  const items: Reading[] = [];
  for (const [id, metric, value, source, start] of rows) {
    if (id === null) continue;
    items.push({
      id,
      metric,
      value: value === null ? null : Number(value),
      source,
      timestamp: toTimestamp(start),
    });
  }
  return { items, total: Number(rows[0]?.[5] ?? 0) };
}
