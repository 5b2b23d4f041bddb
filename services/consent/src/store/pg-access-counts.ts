import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type pg from 'pg';
import type { AccessCountStore } from '../app/access-ports.ts';

const COUNT_NEXT = readStatement(new URL('sql/count-accesses.sql', import.meta.url));

/**
 * Counts in one statement, so that a batch is either uncounted or counted, never both or neither. Requires the access pool's
 * planner settings.
 */
export function createPgAccessCounts(pool: pg.Pool): AccessCountStore {
  return translatingErrors({
    async countNext(atMost) {
      const { rows } = await pool.query<{ taken: number }>({ ...COUNT_NEXT, values: [atMost] });
      return rows[0]?.taken ?? 0;
    },
  });
}
