import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type pg from 'pg';
import type { ChangePruning } from '../app/ports.ts';

const PRUNE = readStatement(new URL('sql/prune-changes.sql', import.meta.url));

const USERS_AT_ONCE = 1_000;

/** Deletes old changes. */
export function createPgChangePruning(pool: pg.Pool): ChangePruning {
  return translatingErrors({
    async prune(after, before, limit) {
      const values = [after, before, limit, USERS_AT_ONCE];
      const { rows } = await pool.query<{ last: string | null; deleted: number }>({ ...PRUNE, values });
      const { last, deleted } = rows[0] ?? { last: null, deleted: 0 };
      return deleted < limit ? last : after;
    },
  });
}
