import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type pg from 'pg';
import type { UserEraser } from '../app/ports.ts';
import { writeForUser } from './database.ts';
import { toCountDown } from './reading-count-sql.ts';

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
    const { rows } = await client.query<{ number: number }>(toErasure(table), [userId, room]);
    room -= rows[0]?.number ?? 0;
    if (room <= 0) return false;
  }
  return true;
}

function toErasure(table: (typeof USER_TABLES)[number]): string {
  const isReading = table === 'reading';
  return `
    WITH written AS (
      DELETE FROM ${table} WHERE user_id = $1 AND ${table === 'import' ? '$2::int > 0' : toLimited(table)}
      RETURNING ${isReading ? 'type, start_at' : 'user_id'}
    ) ${isReading ? `, ${toCountDown('written')}` : ''}
    SELECT count(*)::int AS number FROM written`;
}

/** The lock keeps rows where they are. Not those of imports, which are reported without it; they are few. */
function toLimited(table: string): string {
  return `ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE user_id = $1 LIMIT $2))`;
}
