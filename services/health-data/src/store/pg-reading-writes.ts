import type pg from 'pg';
import type { Identified, ReadingWindow, ReadingWriter } from '../app/ports.ts';
import type { ImportKey } from '../domain/import-progress.ts';
import type { NewReading, ReadingKey } from '../domain/reading.ts';
import { lowerBound, translated, upperBound, writeForUser } from './database.ts';
import { findRollupState, rebuildSmall, refreshRollups, type TouchedHours } from './pg-rollups.ts';
import { toCountDown, toCountUp } from './reading-count-sql.ts';
import { GATHERING, KEYED_HOUR } from './rollup-sql.ts';

// $1 the user, $2 the zone.

/** From rows `written(type, start_at, end_at, inserted)` to what a Written says. */
const WRITTEN = `
  SELECT ${GATHERING} AS gathering, array_agg(type ORDER BY type, hour)::text AS types,
    array_agg(hour ORDER BY type, hour)::text AS hours, sum(number)::int AS number, sum(inserted)::int AS inserted
  FROM (
    SELECT type, ${KEYED_HOUR} AS hour, count(*) AS number, count(*) FILTER (WHERE inserted) AS inserted
    FROM written GROUP BY 1, 2
  ) AS touched
  GROUP BY 1`;

// A row whose id exists differs in its value at most: everything else is in the natural key. xmax is 0 in rows that
// this statement made.
const PUT = `
  WITH written AS (
    INSERT INTO reading (user_id, id, type, category, start_at, end_at, value, source)
    SELECT $1, * FROM unnest($3::uuid[], $4::text[], $5::text[], $6::timestamptz[], $7::timestamptz[], $8::float8[], $9::text[])
    ON CONFLICT (user_id, type, start_at, id) DO UPDATE SET value = excluded.value
      WHERE reading.value IS DISTINCT FROM excluded.value
    RETURNING type, start_at, end_at, xmax = 0 AS inserted
  ), ${toCountUp('written WHERE inserted')}
  ${WRITTEN}`;

function toDeletion(condition: string): string {
  return `
    WITH written AS (
      DELETE FROM reading WHERE user_id = $1 AND ${condition} RETURNING type, start_at, end_at, false AS inserted
    ), ${toCountDown('written')}
    ${WRITTEN}`;
}

const DELETE_BY_KEY = toDeletion(
  '(type, start_at, id) IN (SELECT * FROM unnest($3::text[], $4::timestamptz[], $5::uuid[]))',
);
const DELETE_WINDOW = toDeletion(
  'type = $3 AND ($4::text IS NULL OR source = $4) AND start_at >= $5::timestamptz AND start_at < $6::timestamptz',
);

/** Readings that a statement changed, of types that are gathered alike, and the hours in which they count. */
interface Written extends TouchedHours {
  readonly number: number;
  readonly inserted: number;
}

type Write = (name: string, text: string, values: readonly unknown[]) => Promise<readonly Written[]>;

/**
 * Writes readings, and in the same transaction keeps the counts and rollups beside them. `onDeferred` is told of a user
 * whose rollups have to be rebuilt and who has too many readings to wait for that.
 */
export function createPgReadingWriter(pool: pg.Pool, onDeferred: (userId: string) => void): ReadingWriter {
  const writeReadings = async <T>(
    userId: string,
    change: (write: Write) => Promise<T>,
    during: ImportKey | null = null,
  ): Promise<T> => {
    const write = async (client: pg.PoolClient) => {
      const { timeZone, valid } = await findRollupState(client, userId);
      const result = await change(async (name, text, values) => {
        const { rows } = await client.query<Written>({ name, text, values: [userId, timeZone, ...values] });
        if (valid) await refreshRollups(client, userId, timeZone, rows);
        return rows;
      });
      return { result, deferred: !valid && !(await rebuildSmall(client, userId, timeZone)) };
    };
    const { result, deferred } = await writeForUser(pool, userId, write, { during });
    if (deferred) onDeferred(userId);
    return result;
  };
  return {
    put: (userId, readings, during) =>
      translated(async () => {
        if (readings.length === 0) return { inserted: 0, updated: 0, unchanged: 0 };
        const rows = await writeReadings(
          userId,
          (write) => write('put-readings', PUT, toColumns(readings)),
          during,
        );
        const written = total(rows, 'number');
        const inserted = total(rows, 'inserted');
        return { inserted, updated: written - inserted, unchanged: readings.length - written };
      }),
    delete: (userId, keys, windows) =>
      translated(() =>
        writeReadings(userId, async (write) => {
          let deleted = 0;
          if (keys.length > 0) {
            deleted += total(await write('delete-readings', DELETE_BY_KEY, toKeyColumns(keys)), 'number');
          }
          for (const window of windows) {
            deleted += total(await write('delete-window', DELETE_WINDOW, toWindowValues(window)), 'number');
          }
          return deleted;
        }),
      ),
  };
}

function toColumns(readings: readonly Identified<NewReading>[]): unknown[] {
  return [
    toArray(readings, (reading) => reading.id),
    toArray(readings, (reading) => reading.metric.key),
    toArray(readings, (reading) => reading.metric.category),
    toArray(readings, (reading) => reading.startAt.toISOString()),
    toArray(readings, (reading) => reading.endAt.toISOString()),
    toArray(readings, (reading) => reading.value),
    toArray(readings, (reading) => reading.source),
  ];
}

/**
 * A column as the text of an array. Ids, catalog keys, instants, numbers and checked labels need no quotes, and pg's way
 * of quoting each of them costs a third of the memory of an import.
 */
function toArray<Row>(rows: readonly Row[], toValue: (row: Row) => string | number | null): string {
  return `{${rows.map((row) => toValue(row) ?? 'NULL').join(',')}}`;
}

function toKeyColumns(keys: readonly Identified<ReadingKey>[]): unknown[] {
  return [
    keys.map(({ metric }) => metric.key),
    keys.map(({ startAt }) => startAt.toISOString()),
    keys.map(({ id }) => id),
  ];
}

function toWindowValues({ metric, source, range }: ReadingWindow): unknown[] {
  return [metric, source, lowerBound(range.from), upperBound(range.to)];
}

function total(rows: readonly Written[], column: 'number' | 'inserted'): number {
  return rows.reduce((sum, row) => sum + row[column], 0);
}
