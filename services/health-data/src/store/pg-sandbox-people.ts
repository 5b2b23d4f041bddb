import type { Category } from '@phds/catalog/categories';
import { getMetric, type MetricKey } from '@phds/catalog/metrics';
import { SANDBOX_USER_PREFIX } from '@phds/catalog/sandbox';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type pg from 'pg';
import type { SandboxPeopleStore, UsedPerson } from '../app/ports.ts';

const USE = `
  INSERT INTO sandbox_person (user_id, begun_at, used_at, arrives_at) VALUES ($1, $2, $2, $3)
  ON CONFLICT (user_id) DO UPDATE
    SET used_at = greatest(sandbox_person.used_at, excluded.used_at),
      arrives_at = coalesce(sandbox_person.arrives_at, excluded.arrives_at)
  RETURNING begun_at AS "begunAt", made_until AS "madeUntil"`;

const MADE = `
  UPDATE sandbox_person SET made_until = greatest(made_until, $2) WHERE user_id = $1`;

const COUNT_CHANGE = `
  UPDATE sandbox_person SET changes = changes + 1, used_at = greatest(used_at, $2) WHERE user_id = $1 AND changes < $3`;

const DUE = 'arrives_at <= $1 AND used_at > $2 AND made_until IS NOT NULL AND changes < $3';

// The table has a row for each person in use, at most four for each sandbox app, so the search reads it from end to end.
const FIND_DUE = `SELECT user_id AS "userId" FROM sandbox_person WHERE ${DUE} ORDER BY arrives_at LIMIT $4`;

// Of several instances that found the person, one gets it.
const TAKE_DUE = `UPDATE sandbox_person SET arrives_at = $4, changes = changes + 1 WHERE user_id = $5 AND ${DUE}`;

const FIND_NEWEST = `
  SELECT type, start_at AS start, end_at AS "end", value, source FROM reading
  WHERE user_id = $1 AND category = $2 AND value IS NOT NULL ORDER BY start_at DESC, id DESC LIMIT 1`;

const FIND_UNUSED = 'SELECT user_id AS "userId" FROM sandbox_person WHERE used_at < $1 LIMIT $2';
const FIND_USED = 'SELECT user_id AS "userId" FROM sandbox_person WHERE user_id = ANY($1)';

interface NewestRow {
  readonly type: MetricKey;
  readonly start: Date;
  readonly end: Date;
  readonly value: number;
  readonly source: string;
}

/** The sandbox people in table `sandbox_person`. Every statement finds or changes sandbox people only. */
export function createPgSandboxPeople(pool: pg.Pool): SandboxPeopleStore {
  const idsOf = async (text: string, values: unknown[]) => {
    const { rows } = await pool.query<{ userId: string }>(text, values);
    return rows.map(({ userId }) => userId);
  };
  return translatingErrors({
    async use(userId, now, arrivesAt) {
      const { rows } = await pool.query<UsedPerson>(USE, [userId, now, arrivesAt]);
      const [used] = rows;
      if (used === undefined) throw new Error('the use of a sandbox person returned no row');
      return used;
    },
    made: async (userId, until) => (await pool.query(MADE, [userId, until])).rowCount === 1,
    countChange: async (userId, now, max) =>
      (await pool.query(COUNT_CHANGE, [userId, now, max])).rowCount === 1,
    async takeArrivals({ now, next, usedSince, maxChanges, limit }) {
      const due = [now, usedSince, maxChanges];
      const taken: string[] = [];
      for (const userId of await idsOf(FIND_DUE, [...due, limit])) {
        const { rowCount } = await pool.query(TAKE_DUE, [...due, next, userId]);
        if (rowCount === 1) taken.push(userId);
      }
      return taken;
    },
    async findNewest(userId: string, category: Category) {
      if (!userId.startsWith(SANDBOX_USER_PREFIX)) return null;
      const { rows } = await pool.query<NewestRow>(FIND_NEWEST, [userId, category]);
      const [row] = rows;
      return row === undefined ? null : { ...row, type: getMetric(row.type).name, unit: '' };
    },
    findUnused: (usedBefore, limit) => idsOf(FIND_UNUSED, [usedBefore, limit]),
    findUsed: (userIds) => idsOf(FIND_USED, [userIds]),
  });
}
