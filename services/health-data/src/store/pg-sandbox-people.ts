import { getMetric, type MetricKey } from '@phds/catalog/metrics';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type pg from 'pg';
import type { SandboxPeopleStore } from '../app/ports.ts';

const HAS_PROFILE = 'SELECT FROM profile WHERE user_id = $1';

const FIND_NEWEST = `
  SELECT id, type, start_at AS start, end_at AS "end", value, source FROM reading
  WHERE user_id = $1 AND category = $2 AND value IS NOT NULL AND start_at <= coalesce($3, 'infinity'::timestamptz)
  ORDER BY start_at DESC, id DESC LIMIT 1`;

interface NewestRow {
  readonly id: string;
  readonly type: MetricKey;
  readonly start: Date;
  readonly end: Date;
  readonly value: number;
  readonly source: string;
}

/** What the sandbox asks about people's data. */
export function createPgSandboxPeople(pool: pg.Pool): SandboxPeopleStore {
  return translatingErrors({
    hasProfile: async (userId) => (await pool.query(HAS_PROFILE, [userId])).rowCount === 1,
    async findNewest(userId, category, until) {
      const { rows } = await pool.query<NewestRow>(FIND_NEWEST, [userId, category, until]);
      const [row] = rows;
      return row === undefined ? null : { ...row, type: getMetric(row.type).name, unit: '' };
    },
  });
}
