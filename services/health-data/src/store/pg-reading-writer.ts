import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement, type Statement } from '@phds/service-kit/postgres/statement';
import type pg from 'pg';
import type { Identified, ReadingWindow, ReadingWriter } from '../app/ports.ts';
import type { NewReading, ReadingKey } from '../domain/reading.ts';
import { lowerBound, upperBound, writeForUser } from './database.ts';
import { refreshQuarters, TYPES_BY_END, type Written } from './pg-quarters.ts';

const PUT = readStatement(new URL('sql/put-readings.sql', import.meta.url));
const DELETE_BY_KEY = readStatement(new URL('sql/delete-readings.sql', import.meta.url));
const DELETE_PIECE = readStatement(new URL('sql/delete-window.sql', import.meta.url));
const FIND_NEXT_PIECE = readStatement(new URL('sql/find-next-piece.sql', import.meta.url));

// Number of readings in one piece of a deletion by window. Pieces follow the key order within a type, each in its own transaction.
// A piece takes a fraction of a second; a statement may take ten.
const PIECE_READINGS = 5_000;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** A reading's position in the primary key, within its type. */
interface Place {
  readonly startAt: string;
  readonly id: string;
}

/** Runs a statement that answers what it wrote, and refreshes the touched quarter hours. */
type Run = (statement: Statement, values: readonly unknown[]) => Promise<Written>;

/** Writes readings, and in the same transaction updates their counts and quarter hours. */
export function createPgReadingWriter(pool: pg.Pool, pieceReadings = PIECE_READINGS): ReadingWriter {
  return translatingErrors({
    async put(userId, readings, during = null) {
      if (readings.length === 0) return { inserted: 0, updated: 0, unchanged: 0 };
      const write = (client: pg.PoolClient) => runIn(client, userId)(PUT, toColumns(readings));
      const { number, inserted } = await writeForUser(pool, userId, write, { during });
      return { inserted, updated: number - inserted, unchanged: readings.length - number };
    },
    async delete(userId, keys, windows) {
      let deleted = 0;
      if (keys.length > 0) {
        const write = (client: pg.PoolClient) => runIn(client, userId)(DELETE_BY_KEY, toKeyColumns(keys));
        deleted += (await writeForUser(pool, userId, write)).number;
      }
      for (const window of windows) {
        let from: Place | null = { startAt: lowerBound(window.range.from), id: FIRST_ID };
        while (from !== null) {
          const place: Place = from;
          const piece = await writeForUser(pool, userId, (client) =>
            deletePiece(client, userId, window, place, pieceReadings),
          );
          deleted += piece.number;
          from = piece.next;
        }
      }
      return deleted;
    },
  });
}

function runIn(client: pg.PoolClient, userId: string): Run {
  return async (statement, values) => {
    const { rows } = await client.query<Written>({ ...statement, values: [userId, TYPES_BY_END, ...values] });
    const [written] = rows;
    if (written === undefined) throw new Error('the statement returned no row');
    await refreshQuarters(client, userId, written);
    return written;
  };
}

/** Deletes the readings of a window within one piece. Returns their number, and where the next piece starts; null at the end. */
async function deletePiece(
  client: pg.PoolClient,
  userId: string,
  { metric, source, range }: ReadingWindow,
  from: Place,
  limit: number,
): Promise<{ number: number; next: Place | null }> {
  const end = upperBound(range.to);
  const found = await client.query<Place>({
    ...FIND_NEXT_PIECE,
    values: [userId, metric, from.startAt, from.id, end, limit],
  });
  const next = found.rows[0] ?? null;
  const to = next ?? { startAt: end, id: FIRST_ID };
  const values = [metric, source, from.startAt, from.id, to.startAt, to.id];
  const { number } = await runIn(client, userId)(DELETE_PIECE, values);
  return { number, next };
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
 * A column as an array literal. Ids, catalog keys, instants, numbers and validated labels need no quotes; pg's quoting of each
 * costs a third of the memory of an import.
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
