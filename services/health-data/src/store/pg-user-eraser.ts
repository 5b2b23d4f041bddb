import { translatingErrors } from '@phds/service-kit/postgres-errors';
import { readStatement } from '@phds/service-kit/statement';
import type pg from 'pg';
import type { UserEraser } from '../app/ports.ts';
import { writeForUser } from './database.ts';

const ERASE_READINGS = readStatement(new URL('sql/erase-readings.sql', import.meta.url));

/**
 * Every table that holds rows of a person, in the order in which they go; a test compares it with the tables of the schema.
 * Imports first: none that runs brings anything back. Then the state of the rollups, which makes the rest of them void.
 */
export const USER_TABLES = [
  'import',
  'rollup_state',
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
  'hour_rollup',
  'day_rollup',
  'reading',
  'reading_count',
] as const;

// A fraction of a second, where a statement may take ten.
const PIECE_ROWS = 20_000;

/**
 * Erases a person piece by piece, each a transaction of its own, until one has found nothing left. What is there after any of
 * them agrees: a reading goes with its count, and no summary is made from rollups. So a repeat goes on where the last one stopped.
 */
export function createPgUserEraser(pool: pg.Pool, pieceRows = PIECE_ROWS): UserEraser {
  return translatingErrors({
    async erase(userId) {
      const erase = (client: pg.PoolClient) => erasePiece(client, userId, pieceRows);
      let isAll = false;
      while (!isAll) isAll = await writeForUser(pool, userId, erase);
    },
  });
}

/** Answers whether nothing is left. */
async function erasePiece(client: pg.ClientBase, userId: string, limit: number): Promise<boolean> {
  let room = limit;
  for (const table of USER_TABLES) {
    room -= await eraseRows(client, table, userId, room);
    if (room <= 0) return false;
  }
  return true;
}

/** Erases so many rows of a table, and answers how many there were. */
async function eraseRows(
  client: pg.ClientBase,
  table: (typeof USER_TABLES)[number],
  userId: string,
  limit: number,
): Promise<number> {
  if (table === 'reading') {
    const { rows } = await client.query<{ number: number }>({ ...ERASE_READINGS, values: [userId, limit] });
    return rows[0]?.number ?? 0;
  }
  // Imports are few, and reported without the lock that keeps other rows where they are.
  const { rowCount } =
    table === 'import'
      ? await client.query('DELETE FROM import WHERE user_id = $1', [userId])
      : await client.query(
          `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE user_id = $1 LIMIT $2))`,
          [userId, limit],
        );
  return rowCount ?? 0;
}
