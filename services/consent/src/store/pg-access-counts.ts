import { translatingErrors } from '@phds/service-kit/postgres-errors';
import type pg from 'pg';
import type { AccessCountStore } from '../app/access-ports.ts';

// The records of a batch share its time, and so a range of ids. In the order of the key, so that two who count never wait for
// each other; those who come second skip what the first has taken.
const COUNT_NEXT = `
  WITH picked AS (
    SELECT writer, seq FROM access_uncounted ORDER BY at LIMIT $1 FOR UPDATE SKIP LOCKED
  ), taken AS (
    DELETE FROM access_uncounted u USING picked p WHERE u.writer = p.writer AND u.seq = p.seq
    RETURNING u.writer, u.seq, u.at
  ), counted AS (
    SELECT r.user_ref, r.grant_id, r.day, r.client_id, r.scope, r.endpoint, sum(r.recorded)::int AS recorded,
      sum(r.refused)::int AS refused, max(r.last_at) AS last_at
    FROM taken t CROSS JOIN LATERAL (
      SELECT user_ref, grant_id, day_of_id(coalesce(refers_to, id)) AS day, client_id, scope, endpoint,
        CASE WHEN refers_to IS NULL THEN 1 ELSE 0 END AS recorded, CASE WHEN refers_to IS NULL THEN 0 ELSE 1 END AS refused,
        CASE WHEN refers_to IS NULL THEN at END AS last_at
      FROM access_record
      WHERE id >= first_id_of(t.at) AND id < first_id_of(t.at + interval '1 millisecond')
        AND writer = t.writer AND seq = t.seq
    ) r
    GROUP BY 1, 2, 3, 4, 5, 6
  ), added AS (
    INSERT INTO access_day AS d (user_ref, grant_id, day, client_id, scope, endpoint, recorded, refused, last_at)
    SELECT * FROM counted ORDER BY user_ref, grant_id, day, client_id, scope, endpoint
    ON CONFLICT (user_ref, grant_id, day, client_id, scope, endpoint) DO UPDATE SET
      recorded = d.recorded + EXCLUDED.recorded, refused = d.refused + EXCLUDED.refused,
      last_at = greatest(d.last_at, EXCLUDED.last_at)
  )
  SELECT count(*)::int AS taken FROM taken`;

/** Counts in one statement: a batch is uncounted, or in the counts, and never both or neither. Wants the access pool's planner. */
export function createPgAccessCounts(pool: pg.Pool): AccessCountStore {
  return translatingErrors({
    async countNext(atMost) {
      const { rows } = await pool.query<{ taken: number }>({
        name: 'count',
        text: COUNT_NEXT,
        values: [atMost],
      });
      return rows[0]?.taken ?? 0;
    },
  });
}
