import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { queryVerified } from '@phds/service-kit/restore/verified-query';
import type pg from 'pg';
import type { HashedSession, SessionCheckStore } from '../app/ports.ts';

const CHECK = readStatement(new URL('sql/check-session.sql', import.meta.url));

/** Used by every request of a person: one prepared statement, one snapshot. */
export function createPgSessionChecks(pool: pg.Pool, guard: RestoreGuard): SessionCheckStore {
  return translatingErrors({
    isEnded: (session) => guard.verified(() => isEnded(pool, guard, session)),
  });
}

async function isEnded(pool: pg.Pool, guard: RestoreGuard, session: HashedSession): Promise<boolean> {
  const { tokenHash, sidHash, subjectHash, issuedAt } = session;
  const values = [Buffer.from(tokenHash), sidHash, subjectHash, issuedAt];
  const [row] = await queryVerified<{ readonly ended: boolean }>(pool, guard, CHECK, values);
  if (row === undefined) throw new Error('the check of a session returned no row');
  return row.ended;
}
