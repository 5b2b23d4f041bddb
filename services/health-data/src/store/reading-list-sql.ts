import type { Category } from '@phds/catalog/categories';
import type { MetricKey } from '@phds/catalog/metrics';
import { metricsOfCategory } from '@phds/catalog/metrics';
import type { ReadingQuery } from '../app/ports.ts';
import { coverHours } from '../domain/span-cover.ts';
import { lowerBound, upperBound } from './database.ts';
import { tiesOf, toNewest } from './reading-order-sql.ts';

/** A prepared statement with its values. */
export interface Statement {
  readonly name: string;
  readonly text: string;
  readonly values: unknown[];
}

// Up to here the rows before a page are skipped one by one, which costs less than finding the hour the page begins in.
const MAX_SKIPPED = 500;

/**
 * The statement for a page. Rows: id, type, value, source, start, total. For the beginning of the whole list there is no
 * row when there is no reading; for any other slice there is always one, with a null id when the page is empty.
 */
export function toStatement(query: ReadingQuery): Statement {
  const { userId, category, metric, range, limit, offset } = query;
  const column = metric === null ? 'category' : 'type';
  const types = metric === null ? toTypes(category) : [metric];
  const values = [userId, metric ?? category, types, limit];
  if (offset === 0 && range.from === null && range.to === null) {
    return { name: `readings-newest-${column}`, text: NEWEST[column], values };
  }
  const { edges, spans } = coverHours(range);
  const way = offset > MAX_SKIPPED ? 'found' : 'skipped';
  return {
    name: `readings-${way}-${column}`,
    text: (offset > MAX_SKIPPED ? FOUND : SKIPPED)[column],
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

type Column = 'category' | 'type';

function forColumns(toText: (column: Column) => string): Readonly<Record<Column, string>> {
  return { category: toText('category'), type: toText('type') };
}

const FIELDS = 'page.id, page.type, page.value, page.source, page.start_at';

// The hottest statement: the total is computed once, as a subquery of its own, and travels in each row, because a second
// statement would cost more than twenty small numbers.
const NEWEST = forColumns(
  (column) => `
  SELECT ${FIELDS}, (
    SELECT coalesce(sum(count), 0) FROM reading_count
    WHERE user_id = $1 AND type = ANY($3) AND span = 'all' AND start_at = '-infinity'
  )
  FROM (${toNewest(`user_id = $1 AND ${column} = $2`, { limit: '$4::bigint' })}) AS page
  ORDER BY start_at DESC, ${tiesOf('page')}`,
);

/**
 * What the window consists of, newest part first: whole spans as they are counted, and less than an hour at each end, called
 * an edge, of which the readings themselves are counted.
 */
const toParts = (column: Column) => `
  part AS (
    SELECT span, start_at, start_at + ('1 ' || span)::interval AS end_at, number::int AS number
    FROM unnest($8::text[], $9::timestamptz[], $10::timestamptz[]) AS run(name, lower, upper) CROSS JOIN LATERAL (
      SELECT span, start_at, sum(count) AS number FROM reading_count
      WHERE user_id = $1 AND type = ANY($3) AND span = name AND start_at >= lower AND start_at < upper
      GROUP BY span, start_at
    ) AS counted
    UNION ALL
    SELECT 'edge', lower, upper, number
    FROM unnest($11::timestamptz[], $12::timestamptz[]) AS edge(lower, upper) CROSS JOIN LATERAL (
      SELECT count(*)::int AS number FROM reading
      WHERE user_id = $1 AND ${column} = $2 AND start_at >= lower AND start_at < upper
    ) AS counted
  ),
  counted AS (SELECT coalesce(sum(number), 0) AS total FROM part)`;

const toPage = (column: Column, { below, skip }: { below: string; skip: string }) => `
  SELECT ${FIELDS}, counted.total FROM counted LEFT JOIN (
    ${toNewest(`user_id = $1 AND ${column} = $2 AND start_at >= $6 AND start_at < $7 ${below}`, { limit: '$4::bigint', skip })}
  ) AS page ON true
  ORDER BY page.start_at DESC, ${tiesOf('page')}`;

const SKIPPED = forColumns(
  (column) => `WITH ${toParts(column)} ${toPage(column, { below: '', skip: '$5' })}`,
);

/**
 * Of parts in time the one that holds the row behind $5 others. LIMIT changes no row: it tells the planner that there is
 * one, which otherwise makes room for thousands at every step.
 */
const toFound = (name: string, parts: string) => `
  ${name} AS (
    SELECT span, start_at, end_at, before
    FROM (SELECT *, sum(number) OVER (ORDER BY start_at DESC) - number + newer AS before FROM (${parts}) AS part) AS ranked
    WHERE before <= $5 AND before + number > $5
    LIMIT 1
  )`;

/**
 * The same a step finer; what has no finer span stays. OFFSET 0 keeps a subquery apart, so that it is looked up by its
 * bounds whatever the planner guesses.
 */
const toFiner = (name: string, coarse: string) => `
  ${toFound(
    name,
    `SELECT reading_count.span, reading_count.start_at, reading_count.start_at + ('1 ' || reading_count.span)::interval AS end_at,
       sum(count)::int AS number, before AS newer
     FROM ${coarse} AS coarse CROSS JOIN LATERAL (
       SELECT span, start_at, count FROM reading_count
       WHERE user_id = $1 AND type = ANY($3) AND start_at >= coarse.start_at AND start_at < coarse.end_at
         AND span = CASE coarse.span WHEN 'year' THEN 'month' WHEN 'month' THEN 'day' WHEN 'day' THEN 'hour' END
       OFFSET 0
     ) AS reading_count
     GROUP BY 1, 2, before
     UNION ALL
     SELECT span, start_at, end_at, 2147483647, before FROM ${coarse} AS coarse WHERE span IN ('hour', 'edge')`,
  )}`;

// Far from the newest, a page is found by what is counted: the year, month, day and hour it begins in.
const FOUND = forColumns(
  (column) => `
  WITH ${toParts(column)},
  ${toFound('coarsest', 'SELECT *, 0 AS newer FROM part')},
  ${toFiner('finer', 'coarsest')}, ${toFiner('day_or_finer', 'finer')}, ${toFiner('finest', 'day_or_finer')}
  ${toPage(column, { below: 'AND start_at < (SELECT end_at FROM finest)', skip: '($5 - (SELECT before FROM finest))' })}`,
);
