import { expectAnswers } from '@phds/service-kit/postgres';
import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type pg from 'pg';
import type { RollupStore } from '../app/ports.ts';
import { DEFAULT_TIME_ZONE } from '../domain/profile.ts';
import { writeForUser } from './database.ts';
import { findRollupState, rebuildRollups } from './pg-rollups.ts';
import { ROLLUP_VERSION } from './rollup-version.ts';

// One index probe a user, however many readings they have: reading_count's key leads from one user to the next.
const STALE = `
  WITH RECURSIVE counted(user_id) AS (
    (SELECT user_id FROM reading_count WHERE user_id > $1 ORDER BY user_id LIMIT 1)
    UNION ALL
    SELECT (SELECT user_id FROM reading_count WHERE user_id > counted.user_id ORDER BY user_id LIMIT 1)
    FROM counted WHERE counted.user_id IS NOT NULL
  )
  SELECT page.user_id AS "userId", coalesce(time_zone = coalesce(zone, $3) AND version = $4, false) AS valid
  FROM (SELECT user_id FROM counted WHERE user_id IS NOT NULL LIMIT $2) AS page
  LEFT JOIN LATERAL (SELECT time_zone AS zone FROM profile WHERE user_id = page.user_id) AS wanted ON true
  LEFT JOIN LATERAL (SELECT time_zone, version FROM rollup_state WHERE user_id = page.user_id) AS state ON true
  ORDER BY page.user_id`;

// Ten million readings take less than a minute.
const TIMEOUT_MS = 3_600_000;

/** Finds and rebuilds rollups that are missing, or were made for another zone or version. */
export function createPgRollupStore(pool: pg.Pool): RollupStore {
  return translatingErrors({
    async findStale(after, limit) {
      const { rows } = await pool.query<{ userId: string; valid: boolean }>({
        name: 'stale-rollups',
        text: STALE,
        values: [after, limit, DEFAULT_TIME_ZONE, ROLLUP_VERSION],
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
          const { timeZone, valid } = await findRollupState(client, userId);
          if (valid) return false;
          await client.query(`SET LOCAL statement_timeout = ${TIMEOUT_MS}`);
          expectAnswers(client, TIMEOUT_MS);
          await rebuildRollups(client, userId, timeZone);
          return true;
        },
        { signal },
      ),
  });
}
