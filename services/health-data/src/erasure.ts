import { setTimeout as sleep } from 'node:timers/promises';
import { unavailable } from '@phds/service-kit/errors';
import { queryRows, readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import { ONE_SERVER, writeForUser } from './database.ts';
import { refreshQuarters, TYPES_BY_END, type Written } from './quarters.ts';

const ERASE_READINGS = readStatement(new URL('sql/erase-readings.sql', import.meta.url));
const LIST_UNDECIDED = readStatement(new URL('sql/citus/list-undecided.sql', import.meta.url));

/**
 * Every table with rows of a person, in deletion order; a test compares it with the schema. Imports come first, so that running
 * ones cannot restore anything. Changes come after what they are about, so that a cursor of an app expires when nothing is left.
 */
export const USER_TABLES = [
  'import',
  'profile',
  'symptom',
  'adherence_entry',
  'medication',
  'condition',
  'allergy',
  'appointment',
  'mood_entry',
  'report',
  'ehr_record',
  'reading',
  'reading_quarter',
  'deleted_reading',
  'reading_change',
  'reading_count',
] as const;

// Takes a fraction of a second; a statement may take ten.
const PIECE_ROWS = 20_000;

export type UserEraser = ReturnType<typeof createUserEraser>;

/**
 * Erases a person in pieces, each in its own transaction, until nothing is left. The state after each piece is consistent: readings
 * are deleted with their counts and quarter hours. A repeat therefore continues where the last one stopped.
 */
export function createUserEraser(pool: pg.Pool, pieceRows = PIECE_ROWS, { distributed } = ONE_SERVER) {
  // A piece that is not full is the last one.
  return {
    /** Continues if the caller disconnects. Returns the number of rows. */
    async erase(userId: string): Promise<number> {
      let [rows, piece] = [0, pieceRows];
      while (piece >= pieceRows) {
        piece = await writeForUser(pool, userId, async (client) => {
          if (distributed) await untilDecided(client);
          return erasePiece(client, userId, pieceRows);
        });
        rows += piece;
      }
      return rows;
    },
  };
}

const DECISION_LIMIT_MS = 5_000;
const DECISION_POLL_MS = 50;

/**
 * Waits for commits that have begun. After a crash, a server may not know for a while that a write was committed, and nobody sees its rows
 * before it does; it would restore what is erased now. Throws UNAVAILABLE if that takes long.
 */
async function untilDecided(client: pg.ClientBase): Promise<void> {
  const list = async () =>
    (await queryRows<{ ids: string[] }>(client, LIST_UNDECIDED)).flatMap(({ ids }) => ids);
  const begun = await list();
  const deadline = performance.now() + DECISION_LIMIT_MS;
  for (let left = begun; left.some((id) => begun.includes(id)); left = await list()) {
    if (performance.now() > deadline)
      throw unavailable(new Error('a server does not know the end of a commit'));
    await sleep(DECISION_POLL_MS);
  }
}

/** Returns the number of rows: fewer than the limit when nothing is left. */
async function erasePiece(client: pg.ClientBase, userId: string, limit: number): Promise<number> {
  let rows = 0;
  for (const table of USER_TABLES) {
    rows += await eraseRows(client, table, userId, limit - rows);
    if (rows >= limit) break;
  }
  return rows;
}

/** Erases up to a number of rows of a table and returns how many. */
async function eraseRows(
  client: pg.ClientBase,
  table: (typeof USER_TABLES)[number],
  userId: string,
  limit: number,
): Promise<number> {
  if (table === 'reading') {
    const [written] = await queryRows<Written>(client, ERASE_READINGS, userId, TYPES_BY_END, limit);
    if (written !== undefined) await refreshQuarters(client, userId, written);
    return written?.number ?? 0;
  }
  return (await client.query(toPieceDeletion(table), [userId, limit])).rowCount ?? 0;
}

/**
 * Rows are found by ctid, because the lock of the user keeps them where they are. Rows of `reading_change` and `import` are also updated
 * without that lock. An update moves a row, and a deletion by ctid that waited for it skips the row, so these are deleted by key.
 */
function toPieceDeletion(table: (typeof USER_TABLES)[number]): string {
  const column = KEYS[table] ?? 'ctid';
  return `DELETE FROM ${table} WHERE user_id = $1
    AND ${column} = ANY (ARRAY(SELECT ${column} FROM ${table} WHERE user_id = $1 LIMIT $2))`;
}

const KEYS: { readonly [Table in (typeof USER_TABLES)[number]]?: string } = {
  import: 'digest',
  reading_change: 'number',
};
