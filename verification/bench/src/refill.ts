import { setTimeout as delay } from 'node:timers/promises';
import type { Stack } from '@phds/local-stack/stack';
import type pg from 'pg';

const TABLES = ['reading', 'reading_count', 'hour_rollup', 'day_rollup', 'rollup_state'];
const POLL_MS = 500;

/**
 * Replaces all readings by those that `insert` creates for this number of users, updates their counts, and waits until the service
 * has computed all rollups, which it does at start-up. `client` is the owner's, in the schema and in UTC.
 */
export async function refill(
  stack: Stack,
  client: pg.Client,
  users: number,
  insert: () => Promise<unknown>,
): Promise<void> {
  const service = stack.processes.get('health-data');
  await service?.stop();
  await client.query(`TRUNCATE ${TABLES.join(', ')}`);
  await insert();
  await client.query(COUNT);
  await service?.start();
  while ((await countRolledUp(client)) < users) await delay(POLL_MS);
  for (const table of TABLES) await client.query(`VACUUM ANALYZE ${table}`);
}

async function countRolledUp(client: pg.Client): Promise<number> {
  const { rows } = await client.query('SELECT count(*)::int AS done FROM rollup_state');
  return rows[0].done;
}

const COUNT = `
  INSERT INTO reading_count (user_id, type, span, start_at, count)
  SELECT user_id, type, span, start, sum(number)
  FROM (
    SELECT user_id, type, date_trunc('hour', start_at) AS hour, count(*) AS number FROM reading GROUP BY 1, 2, 3
  ) AS hourly, LATERAL (VALUES
    ('hour', hour), ('day', date_trunc('day', hour)), ('month', date_trunc('month', hour)),
    ('year', date_trunc('year', hour)), ('all', '-infinity')
  ) AS covering(span, start)
  GROUP BY 1, 2, 3, 4`;
