import type pg from 'pg';
import type { UserEraser } from '../app/ports.ts';
import { translated, writeForUser } from './database.ts';

/** Every table that holds rows of a person. A test compares it with the tables of the schema. */
export const USER_TABLES = [
  'reading',
  'reading_count',
  'hour_rollup',
  'day_rollup',
  'rollup_state',
  'symptom',
  'medication',
  'adherence_entry',
  'condition',
  'allergy',
  'appointment',
  'mood_entry',
  'report',
  'ehr_record',
  'profile',
  'import',
] as const;

/** Erases a person in one transaction: all or nothing. */
export function createPgUserEraser(pool: pg.Pool): UserEraser {
  return {
    erase: (userId) =>
      translated(() =>
        writeForUser(pool, userId, async (client) => {
          for (const table of USER_TABLES)
            await client.query(`DELETE FROM ${table} WHERE user_id = $1`, [userId]);
        }),
      ),
  };
}
