import type { Category } from '@phds/catalog/categories';
import type { TimeBounds } from '@phds/catalog/fhir/dates';
import { COUNTED_MAX, NEWEST_COUNT } from '@phds/catalog/fhir/search';
import { type MetricKey, metricsOfCategory } from '@phds/catalog/metrics';
import { readStatement, type Statement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { lowerBound, ONE_SERVER, TEXT_ROWS, toTimestamp, upperBound } from '../database.ts';
import { countReadings } from '../reading-counts.ts';
import { byCategoryOrType, type Reading, sharingStatements } from '../readings.ts';

/** A stored reading with its end; null if it is the start. */
export interface ReadingSpan extends Reading {
  readonly endTimestamp: string | null;
}

/** The two types of which readings of the same times and source are one measurement. */
export const BLOOD_PRESSURE = ['blood-pressure', 'bp-diastolic'] as const satisfies MetricKey[];

/** Readings of several categories, or of several metric types, by both of their times. */
export interface ReadingSpanQuery {
  readonly userId: string;
  readonly by: 'category' | 'type';
  readonly subjects: readonly {
    readonly key: Category | MetricKey;
    /** Readings of this source are left out; null for none. */
    readonly avoidedSource: string | null;
  }[];
  /** Starts (Unix milliseconds) of the readings that are looked for; null for any. */
  readonly starts: readonly number[] | null;
  readonly when: TimeBounds;
}

const SHARED = byCategoryOrType(readStatement(new URL('../sql/newest-spans.sql', import.meta.url)));
const NEWEST = byCategoryOrType(readStatement(new URL('../sql/readings-newest-spans.sql', import.meta.url)));
const COUNT = byCategoryOrType(readStatement(new URL('../sql/readings-count-spans.sql', import.meta.url)));

/**
 * No index has the ends of readings. A search for those that end after a time also goes through the ones that start so long before; a
 * reading that lasts longer is found by its start.
 */
const LONGEST_MS = 31 * 86_400_000;

const TOO_MANY = COUNTED_MAX + 1;

/** Rows of a newest search: twice as many for halves of blood pressures, and one more tells whether there is a next page. */
const NEWEST_ROWS = 2 * (NEWEST_COUNT + 1);

export type ReadingSpans = ReturnType<typeof createReadingSpans>;

/**
 * Readings with their ends, of several categories or types at once. The newest of one share statements, as newest pages do (`createReadings`).
 */
export function createReadingSpans(
  pool: pg.Pool,
  onNewestPages: (queries: number) => void = () => undefined,
  { distributed } = ONE_SERVER,
) {
  const read = (statement: Statement, queries: readonly NewestQuery[]) =>
    listShared(pool, statement, queries);
  const shared = sharingStatements(SHARED, read, ({ limit }) => limit, onNewestPages);
  const ask = async (statement: Statement, values: unknown[]) => {
    const result = await pool.query({ ...TEXT_ROWS, ...statement, values });
    const [row] = result.rows as unknown as [string | null][];
    return row?.[0] ?? null;
  };
  return {
    /** The newest by start, in no order: at least `limit` if there are, and all that start together with the last one. */
    async listNewest(query: NewestQuery): Promise<readonly ReadingSpan[]> {
      const page = await (isOfOne(query) && !distributed
        ? shared[query.by](query)
        : ask(NEWEST[query.by], [...toValues(query), query.limit]));
      return page === null ? [] : (JSON.parse(page) as string[]).map(parseReading);
    },
    /** The two halves of a blood pressure count once; null for more than `COUNTED_MAX` readings, because each takes some microseconds. */
    async count(query: ReadingSpanQuery): Promise<number | null> {
      const types = findWholeTypes(query);
      const paired = types?.filter(isPaired) ?? [];
      // The kept counts tell how many readings there are, not how many are halves of the same blood pressure.
      const rest =
        types === null ? query : { ...query, by: 'type' as const, subjects: paired.map(toSubject) };
      const counted = await ask(COUNT[rest.by], [...toValues(rest), BLOOD_PRESSURE, TOO_MANY]);
      if (counted === null || types === null) return counted === null ? null : Number(counted);
      const single = types.filter((type) => !isPaired(type));
      return Number(counted) + (await countReadings(pool, query.userId, single, null));
    },
  };
}

type NewestQuery = ReadingSpanQuery & { readonly limit: number };

/** Whether the rows are the first of an index. */
function isOfOne({ subjects, starts, when, limit }: NewestQuery): boolean {
  const [one, ...others] = subjects;
  const { startBefore, endFrom, endBefore } = when;
  const isUnbounded = startBefore === null && endFrom === null && endBefore === null;
  return (
    one?.avoidedSource === null &&
    others.length === 0 &&
    starts === null &&
    isUnbounded &&
    limit <= NEWEST_ROWS
  );
}

async function listShared(
  pool: pg.Pool,
  statement: Statement,
  queries: readonly NewestQuery[],
): Promise<(string | null)[]> {
  const { rows } = await pool.query<[page: string | null]>({
    ...TEXT_ROWS,
    ...statement,
    values: [
      queries.map(({ userId }) => userId),
      queries.map(({ subjects }) => subjects[0]?.key),
      queries.map(({ when }) => lowerBound(toDate(when.startFrom))),
      queries.map(({ limit }) => limit),
    ],
  });
  return rows.map(([page]) => page);
}

/** The types of a query for all of their readings, whenever and by whichever source; null for another query. */
function findWholeTypes({ by, subjects, starts, when }: ReadingSpanQuery): readonly MetricKey[] | null {
  const isWhole = starts === null && subjects.every(({ avoidedSource }) => avoidedSource === null);
  if (!isWhole || Object.values(when).some((bound) => bound !== null)) return null;
  return subjects.flatMap(({ key }) =>
    by === 'type' ? (key as MetricKey) : metricsOfCategory(key as Category).map((metric) => metric.key),
  );
}

function isPaired(type: MetricKey): boolean {
  return (BLOOD_PRESSURE as readonly MetricKey[]).includes(type);
}

function toSubject(key: MetricKey) {
  return { key, avoidedSource: null };
}

function toValues({ userId, subjects, starts, when }: ReadingSpanQuery): unknown[] {
  const { lower, upper } = toStartBounds(when);
  const parts = (starts ?? [null]).flatMap((start) =>
    subjects.map(({ key, avoidedSource }) => ({
      key,
      avoidedSource,
      lower: start === null ? lower : Math.max(start, lower ?? start),
      upper: start === null ? upper : Math.min(start + 1, upper ?? start + 1),
    })),
  );
  return [
    userId,
    parts.map(({ key }) => key),
    parts.map(({ avoidedSource }) => avoidedSource),
    parts.map((part) => lowerBound(toDate(part.lower))),
    parts.map((part) => upperBound(toDate(part.upper))),
    lowerBound(toDate(when.endFrom)),
    upperBound(toDate(when.endBefore)),
  ];
}

/** The bounds of the start that all bounds imply: a reading does not end before it starts. */
function toStartBounds({ startFrom, startBefore, endFrom, endBefore }: TimeBounds) {
  const lower = [startFrom ?? [], endFrom === null ? [] : endFrom - LONGEST_MS].flat();
  const upper = [startBefore ?? [], endBefore ?? []].flat();
  return {
    lower: lower.length === 0 ? null : Math.max(...lower),
    upper: upper.length === 0 ? null : Math.min(...upper),
  };
}

function toDate(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}

/** `id|type|value|start|end|source`; the last field may contain anything. */
const READING = /^([^|]+)\|([^|]+)\|([^|]*)\|([^|]+)\|([^|]+)\|(.*)$/s;

function parseReading(text: string): ReadingSpan {
  const fields = READING.exec(text);
  if (fields === null) throw new Error('a reading does not have the six fields of its statement');
  const [, id = '', metric, value, start = '', end = '', source = ''] = fields;
  return {
    id,
    metric: metric as MetricKey,
    value: value ? Number(value) : null,
    timestamp: toTimestamp(start),
    endTimestamp: end === start ? null : toTimestamp(end),
    source,
  };
}
