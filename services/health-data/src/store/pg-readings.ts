import type { Category } from '@phds/catalog/categories';
import type { MetricKey } from '@phds/catalog/metrics';
import { metricsOfCategory } from '@phds/catalog/metrics';
import { translatingErrors } from '@phds/service-kit/postgres-errors';
import { readStatement, type Statement } from '@phds/service-kit/statement';
import type pg from 'pg';
import type { ReadingQuery, ReadingReader } from '../app/ports.ts';
import type { Reading } from '../domain/reading.ts';
import { coverHours } from '../domain/span-cover.ts';
import { lowerBound, TEXT_ROWS, toTimestamp, upperBound } from './database.ts';

const NEWEST = byCategoryOrType(readStatement(new URL('sql/readings-newest.sql', import.meta.url)));
const BY_OFFSET = byCategoryOrType(readStatement(new URL('sql/readings-by-offset.sql', import.meta.url)));
const BY_COUNTS = byCategoryOrType(readStatement(new URL('sql/readings-by-counts.sql', import.meta.url)));

/** Up to this offset, skipping rows costs less than finding the hour in which the page starts. */
const MAX_SKIPPED = 500;

/** A list of one metric type uses another index, so it is another statement: `type` in place of `category`. */
function byCategoryOrType({ name, text }: Statement) {
  return {
    category: { name, text },
    type: { name: `${name}-of-type`, text: text.replaceAll('category = $2', 'type = $2') },
  };
}

type Row = readonly [
  id: string,
  type: MetricKey,
  value: string | null,
  source: string,
  start: string,
  total: string,
];

type EmptyPage = readonly [null, null, null, null, null, total: string];

/** Lists of readings. One prepared statement returns the page and the total from one snapshot. */
export function createPgReadings(pool: pg.Pool): ReadingReader {
  return translatingErrors({
    async list(query) {
      const result = await pool.query({ ...TEXT_ROWS, ...toStatement(query) });
      // With rowMode 'array' a row is the array itself, which the driver's types cannot express.
      const rows = result.rows as unknown as (Row | EmptyPage)[];
      return { items: rows.filter(isReading).map(toReading), total: Number(rows[0]?.[5] ?? 0) };
    },
  });
}

function toStatement(query: ReadingQuery): Statement & { readonly values: unknown[] } {
  const { userId, category, metric, range, limit, offset } = query;
  const column = metric === null ? 'category' : 'type';
  const types = metric === null ? toTypes(category) : [metric];
  const values = [userId, metric ?? category, types, limit];
  if (offset === 0 && range.from === null && range.to === null) return { ...NEWEST[column], values };
  const { edges, spans } = coverHours(range);
  return {
    ...(offset > MAX_SKIPPED ? BY_COUNTS : BY_OFFSET)[column],
    values: [
      ...values,
      offset,
      lowerBound(range.from),
      upperBound(range.to),
      spans.map(({ span }) => span),
      spans.map(({ from }) => lowerBound(from)),
      spans.map(({ to }) => upperBound(to)),
      edges.map(({ from }) => lowerBound(from)),
      edges.map(({ to }) => upperBound(to)),
    ],
  };
}

const typesOfCategories = new Map<Category, readonly MetricKey[]>();

function toTypes(category: Category): readonly MetricKey[] {
  const known = typesOfCategories.get(category);
  if (known !== undefined) return known;
  const types = metricsOfCategory(category).map(({ key }) => key);
  typesOfCategories.set(category, types);
  return types;
}

function isReading(row: Row | EmptyPage): row is Row {
  return row[0] !== null;
}

function toReading([id, metric, value, source, start]: Row): Reading {
  return { id, metric, value: value === null ? null : Number(value), source, timestamp: toTimestamp(start) };
}
