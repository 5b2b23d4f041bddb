import type { Category } from '@phds/catalog/categories';
import { METRICS, type MetricKey, metricsOfCategory } from '@phds/catalog/metrics';
import { NEWEST_ITEMS, PAGE_SIZE_DEFAULT } from '@phds/catalog/pagination';
import { batchingCalls } from '@phds/service-kit/batcher';
import { readStatement, type Statement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { lowerBound, ONE_SERVER, TEXT_ROWS, toTimestamp, upperBound } from './database.ts';
import { type Answer, type Page, type Slice, toEncodedListAnswer } from './document.ts';
import { findSince, type Profiles, toSlice } from './profiles.ts';
import type { DataRequest } from './request.ts';
import { notBefore, type Range, splitRange, toInstants } from './window.ts';

/** A stored reading as it is returned. */
export interface Reading {
  readonly id: string;
  readonly metric: MetricKey;
  /** In the unit of the metric type; null only for an ECG without a heart rate. */
  readonly value: number | null;
  /** Start of the interval: RFC 3339, UTC, milliseconds, `Z`. */
  readonly timestamp: string;
  readonly source: string;
}

export interface ReadingQuery extends Slice {
  readonly userId: string;
  readonly category: Category;
  /** Null for every type of the category. */
  readonly metric: MetricKey | null;
  /** Filters by the start of the interval: `from` inclusive, `to` exclusive. */
  readonly range: Range;
}

/** Readings of one category, newest first. */
export async function readReadings(
  parts: { readonly readings: Readings; readonly profiles: Profiles },
  request: DataRequest,
): Promise<Answer> {
  const { path, ids, userId, parameters } = request;
  if (path.category === null) throw new RangeError('Readings are read by category.');
  const since = await findSince(parts.profiles, request);
  const page = await parts.readings.list({
    userId,
    category: path.category,
    metric: parameters.metric?.key ?? null,
    range: notBefore(toInstants(parameters.window), since),
    ...toSlice(parameters),
  });
  const publicIds = ids.toPublicIds('rdg', page.items);
  const items = page.items.map((reading, index) => encodeReading(reading, publicIds[index] ?? ''));
  return toEncodedListAnswer(items, { ...parameters, total: page.total });
}

// The hottest code of the service: the constant parts of each type's JSON are encoded once.
const PARTS: ReadonlyMap<MetricKey, { readonly type: string; readonly unit: string }> = new Map(
  METRICS.map(({ key, name, unit }) => [
    key,
    {
      type: `","type":${JSON.stringify(name)},"value":`,
      unit: `,"unit":${JSON.stringify(unit)},"timestamp":"`,
    },
  ]),
);

/** The JSON text of a reading with exactly the public fields, in their order. */
export function encodeReading(reading: Reading, publicId: string): string {
  const { type = '', unit = '' } = PARTS.get(reading.metric) ?? {};
  // A finite number or null is formatted as in JSON; ingestion allows nothing else.
  const value = `${type}${reading.value}${unit}`;
  const source = JSON.stringify(reading.source);
  return `{"id":"${publicId}${value}${reading.timestamp}","source":${source}}`;
}

const NEWEST = byCategoryOrType(readStatement(new URL('sql/readings-newest.sql', import.meta.url)));
const PAGE = byCategoryOrType(readStatement(new URL('sql/readings-page.sql', import.meta.url)));

/** Up to this offset, skipping rows costs less than finding the day in which the page starts. */
const MAX_SKIPPED = 5_000;

const DAY_MS = 86_400_000;

/** A statement answers at most 64 queries of first pages, and fewer if it reads or skips more than the default for some. */
const MAX_MERGED_ROWS = 64 * PAGE_SIZE_DEFAULT;
const MAX_WAITING_ROWS = 2_000 * PAGE_SIZE_DEFAULT;
/** After this many milliseconds, a statement is slow and does not hold up the next one. */
const SLOW_MS = 50;
/** Slow statements beside the next one; more would take connections of other work. */
const MAX_SLOW = 1;

/** A list of one metric type uses another index, so it is another statement: `type` in place of `category`. */
export function byCategoryOrType({ name, text }: Statement) {
  return {
    category: { name, text },
    type: { name: `${name}-of-type`, text: text.replaceAll('category = ', 'type = ') },
  };
}

/**
 * Reads that share statements: those that arrive while one is in progress have the next one. `costOf` is a number of rows; `onShared` is
 * called for each statement with the number of its queries.
 */
export function sharingStatements<Query, Result>(
  { category, type }: ReturnType<typeof byCategoryOrType>,
  read: (statement: Statement, queries: readonly Query[]) => Promise<readonly Result[]>,
  costOf: (query: Query) => number,
  onShared: (queries: number) => void,
) {
  const share = (statement: Statement): ((query: Query) => Promise<Result>) => {
    const readShared = (queries: readonly Query[]) => {
      onShared(queries.length);
      return read(statement, queries);
    };
    return batchingCalls(readShared, {
      slowMs: SLOW_MS,
      maxSlow: MAX_SLOW,
      costOf: (query) => Math.max(costOf(query), PAGE_SIZE_DEFAULT),
      maxCost: MAX_MERGED_ROWS,
      maxQueued: MAX_WAITING_ROWS,
    });
  };
  return { category: share(category), type: share(type) };
}

type Fields = readonly [id: string, type: MetricKey, value: string | null, source: string, start: string];

type Row = readonly [...Fields, total: string];

type EmptyPage = readonly [null, null, null, null, null, total: string];

export type Readings = ReturnType<typeof createReadings>;

/**
 * Lists of readings. One prepared statement returns the page and the total from one snapshot. Newest pages, which every app reads,
 * share statements; other pages take longer and never hold them up. `onNewestPages` is called for each shared statement with the number of
 * its queries. If the rows are distributed, each page has a statement of its own, because their people are on several servers.
 */
export function createReadings(
  pool: pg.Pool,
  onNewestPages: (queries: number) => void = () => undefined,
  { distributed } = ONE_SERVER,
) {
  const read = (statement: Statement, queries: readonly ReadingQuery[]) =>
    listNewest(pool, statement, queries);
  const newest = sharingStatements(NEWEST, read, ({ limit, offset }) => offset + limit, onNewestPages);
  return {
    /**
     * Newest first; ties by type, source and end, never by row id, which depends on the user id. A slice beyond the end is empty,
     * with the true total.
     */
    list: (query: ReadingQuery): Promise<Page<Reading>> =>
      isNewestPage(query) && !distributed ? newest[columnOf(query)](query) : list(pool, query),
  };
}

function isNewestPage({ offset, limit, range }: ReadingQuery): boolean {
  return offset + limit <= NEWEST_ITEMS && range.from === null && range.to === null;
}

function columnOf({ metric }: ReadingQuery): 'category' | 'type' {
  return metric === null ? 'category' : 'type';
}

async function listNewest(
  pool: pg.Pool,
  statement: Statement,
  queries: readonly ReadingQuery[],
): Promise<Page<Reading>[]> {
  const { rows } = await pool.query<[total: string, page: string | null]>({
    ...TEXT_ROWS,
    ...statement,
    values: [
      queries.map(({ userId }) => userId),
      queries.map(({ metric, category }) => metric ?? category),
      queries.map((query) => `{${typesOf(query)}}`),
      queries.map(({ limit }) => limit),
      queries.map(({ offset }) => offset),
    ],
  });
  return rows.map(([total, page]) => {
    const readings: readonly string[] = page === null ? [] : JSON.parse(page);
    return { items: readings.map(parseNewest), total: Number(total) };
  });
}

/** `id|type|value|start|source`; the last field may contain anything. */
const READING = /^([^|]+)\|([^|]+)\|([^|]*)\|([^|]+)\|(.*)$/s;

function parseNewest(text: string): Reading {
  const fields = READING.exec(text);
  if (fields === null) throw new Error('a reading does not have the five fields of its statement');
  const [, id = '', metric, value, start = '', source = ''] = fields;
  return toReading([id, metric as MetricKey, value || null, source, start]);
}

async function list(pool: pg.Pool, query: ReadingQuery): Promise<Page<Reading>> {
  const result = await pool.query({ ...TEXT_ROWS, ...toStatement(query) });
  // With rowMode 'array' a row is the array itself, which the driver's types cannot express.
  const rows = result.rows as unknown as (Row | EmptyPage)[];
  return { items: rows.filter(isReading).map(toReading), total: Number(rows[0]?.[5] ?? 0) };
}

function toStatement(query: ReadingQuery): Statement & { readonly values: unknown[] } {
  const { userId, category, metric, range, limit, offset } = query;
  const { whole, edges } = splitRange(range, DAY_MS);
  const isOfAll = range.from === null && range.to === null && offset <= MAX_SKIPPED;
  return {
    ...PAGE[columnOf(query)],
    values: [
      userId,
      metric ?? category,
      typesOf(query),
      limit,
      offset,
      lowerBound(range.from),
      upperBound(range.to),
      isOfAll ? 'all' : 'day',
      whole === null ? 'infinity' : lowerBound(whole.from),
      whole === null ? 'infinity' : upperBound(whole.to),
      edges.map(({ from }) => lowerBound(from)),
      edges.map(({ to }) => upperBound(to)),
    ],
  };
}

const typesOfCategories = new Map<Category, readonly MetricKey[]>();

function typesOf({ metric, category }: ReadingQuery): readonly MetricKey[] {
  if (metric !== null) return [metric];
  const known = typesOfCategories.get(category);
  if (known !== undefined) return known;
  const types = metricsOfCategory(category).map(({ key }) => key);
  typesOfCategories.set(category, types);
  return types;
}

function isReading(row: Row | EmptyPage): row is Row {
  return row[0] !== null;
}

function toReading([id, metric, value, source, start]: Fields | Row): Reading {
  return { id, metric, value: value === null ? null : Number(value), source, timestamp: toTimestamp(start) };
}
