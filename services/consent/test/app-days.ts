import { expect } from '@jest/globals';
import type pg from 'pg';

/** Expects app_day to have the sums of access_day. */
export async function expectAppDays(owner: pg.Pool): Promise<void> {
  const { rows } = await owner.query(
    `SELECT * FROM app_day FULL JOIN (
       SELECT client_id, day, endpoint, sum(recorded) AS all_recorded, sum(refused) AS all_refused FROM access_day GROUP BY 1, 2, 3
     ) counted USING (client_id, day, endpoint)
     WHERE (recorded, refused) IS DISTINCT FROM (all_recorded, all_refused)`,
  );
  expect(rows).toEqual([]);
}
