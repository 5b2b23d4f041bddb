import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement, type Statement } from '@phds/service-kit/postgres/statement';
import type pg from 'pg';
import type { Identified, ReadingWindow, ReadingWriter } from '../app/ports.ts';
import type { ImportKey } from '../domain/import-progress.ts';
import type { NewReading, ReadingKey } from '../domain/reading.ts';
import { lowerBound, upperBound, writeForUser } from './database.ts';
import { findRollupState, rebuildSmall, refreshRollups, type TouchedHours } from './pg-rollups.ts';
import { TYPES } from './rollup-types.ts';
import { ROLLUP_VERSIONS } from './rollup-version.ts';

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

/** Readings changed by a statement, of types with the same gathering, and the hours in which they count. */
interface Written extends TouchedHours {
  readonly number: number;
  readonly inserted: number;
}

interface ReadingWrite {
  readonly client: pg.ClientBase;
  /** Runs a statement that returns what it wrote, and refreshes the rollups of the touched hours. */
  run(statement: Statement, values: readonly unknown[]): Promise<readonly Written[]>;
}

/**
 * Writes readings, and in the same transaction updates their counts and rollups. `onDeferred` is called for a user whose rollups
 * have to be rebuilt and who has too many readings to do that immediately.
 */
export function createPgReadingWriter(
  pool: pg.Pool,
  onDeferred: (userId: string) => void,
  pieceReadings = PIECE_READINGS,
  versions = ROLLUP_VERSIONS,
): ReadingWriter {
  return translatingErrors({
    async put(userId, readings, during) {
      if (readings.length === 0) return { inserted: 0, updated: 0, unchanged: 0 };
      const put = ({ run }: ReadingWrite) => run(PUT, toColumns(readings));
      const { result: rows, deferred } = await writeReadings(pool, userId, put, during, versions);
      if (deferred) onDeferred(userId);
      const written = total(rows, 'number');
      const inserted = total(rows, 'inserted');
      return { inserted, updated: written - inserted, unchanged: readings.length - written };
    },
    async delete(userId, keys, windows) {
      let deleted = 0;
      let rebuildDue = false;
      try {
        for await (const { rows, deferred } of deletePieces(pool, userId, keys, windows, pieceReadings)) {
          deleted += total(rows, 'number');
          rebuildDue = deferred;
        }
      } finally {
        // Not before the last piece, because a rebuild would delay the next one.
        if (rebuildDue) onDeferred(userId);
      }
      return deleted;
    },
  });
}

/** Deletes in separate transactions, with interruptions possible in between. Yields what each of them wrote. */
async function* deletePieces(
  pool: pg.Pool,
  userId: string,
  keys: readonly Identified<ReadingKey>[],
  windows: readonly ReadingWindow[],
  limit: number,
): AsyncGenerator<{ rows: readonly Written[]; deferred: boolean }> {
  if (keys.length > 0) {
    const deleteKeys = ({ run }: ReadingWrite) => run(DELETE_BY_KEY, toKeyColumns(keys));
    const { result, deferred } = await writeReadings(pool, userId, deleteKeys);
    yield { rows: result, deferred };
  }
  for (const window of windows) {
    let from: Place | null = { startAt: lowerBound(window.range.from), id: FIRST_ID };
    while (from !== null) {
      const place: Place = from;
      const deletePiece = (write: ReadingWrite) => deletePieceFrom(place, write, userId, window, limit);
      const { result, deferred } = await writeReadings(pool, userId, deletePiece);
      yield { rows: result.rows, deferred };
      from = result.next;
    }
  }
}

/** Deletes the readings of a window within one piece. Returns where the next piece starts; null at the end. */
async function deletePieceFrom(
  from: Place,
  { client, run }: ReadingWrite,
  userId: string,
  { metric, source, range }: ReadingWindow,
  limit: number,
): Promise<{ rows: readonly Written[]; next: Place | null }> {
  const end = upperBound(range.to);
  const found = await client.query<Place>({
    ...FIND_NEXT_PIECE,
    values: [userId, metric, from.startAt, from.id, end, limit],
  });
  const next = found.rows[0] ?? null;
  const to = next ?? { startAt: end, id: FIRST_ID };
  const values = [metric, source, from.startAt, from.id, to.startAt, to.id];
  return { rows: await run(DELETE_PIECE, values), next };
}

/** Runs a write in a transaction; `deferred` tells whether the rollups have to be rebuilt in the background. */
async function writeReadings<T>(
  pool: pg.Pool,
  userId: string,
  change: (write: ReadingWrite) => Promise<T>,
  during: ImportKey | null = null,
  versions = ROLLUP_VERSIONS,
): Promise<{ result: T; deferred: boolean }> {
  const write = async (client: pg.PoolClient) => {
    const state = await findRollupState(client, userId, versions);
    const { timeZone, valid } = state;
    const run: ReadingWrite['run'] = async (statement, written) => {
      const values = [userId, timeZone, TYPES['by-end'], TYPES['by-start'], ...written];
      const { rows } = await client.query<Written>({ ...statement, values });
      if (valid) await refreshRollups(client, userId, timeZone, rows);
      return rows;
    };
    const result = await change({ client, run });
    return { result, deferred: !valid && !(await rebuildSmall(client, userId, state, versions)) };
  };
  return writeForUser(pool, userId, write, { during });
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

function total(rows: readonly Written[], column: 'number' | 'inserted'): number {
  return rows.reduce((sum, row) => sum + row[column], 0);
}
