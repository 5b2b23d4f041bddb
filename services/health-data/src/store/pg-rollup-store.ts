import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { expectAnswers } from '@phds/service-kit/postgres/postgres';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type pg from 'pg';
import type { RollupStore } from '../app/ports.ts';
import { DEFAULT_TIME_ZONE } from '../domain/profile.ts';
import { ONE_SERVER, writeForUser } from './database.ts';
import { findRollupState, rebuildRollups } from './pg-rollups.ts';
import { ROLLUP_VERSIONS } from './rollup-version.ts';

const STALE = readStatement(new URL('sql/stale-rollups.sql', import.meta.url));
const STALE_OF_ALL = readStatement(new URL('sql/stale-rollups-of-all.sql', import.meta.url));

// Ten million readings take less than a minute.
const TIMEOUT_MS = 3_600_000;

/** Finds and rebuilds rollups that are missing, or were built for another zone or by an earlier release. */
export function createPgRollupStore(
  pool: pg.Pool,
  versions = ROLLUP_VERSIONS,
  { distributed } = ONE_SERVER,
): RollupStore {
  return translatingErrors({
    async findStale(after, limit) {
      const { rows } = await pool.query<{ userId: string; valid: boolean }>({
        ...(distributed ? STALE_OF_ALL : STALE),
        values: [after, limit, DEFAULT_TIME_ZONE, versions],
      });
      return {
        userIds: rows.filter(({ valid }) => !valid).map(({ userId }) => userId),
        last: rows.at(-1)?.userId ?? null,
      };
    },
    rebuild: (userId, signal) =>
      writeForUser(
        pool,
        userId,
        async (client) => {
          const { timeZone, valid } = await findRollupState(client, userId, versions);
          if (valid) return false;
          await client.query(`SET LOCAL statement_timeout = ${TIMEOUT_MS}`);
          expectAnswers(client, TIMEOUT_MS);
          await rebuildRollups(client, userId, timeZone, versions[0]);
          return true;
        },
        { signal },
      ),
  });
}
