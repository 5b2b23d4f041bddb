import type { ExportedAccess } from '@phds/catalog/access-csv';
import { idsFrom } from './chain-source.ts';
import type { RecordsRange } from './range.ts';
import type { RecordsSnapshot } from './snapshot.ts';

const ACCESSES_A_PAGE = 1_000;

const ACCESSES = `
  SELECT 'acc_' || replace(r.id::text, '-', '') AS id,
    to_char(r.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at, r.client_id AS app,
    coalesce(shown_app_of(r.grant_id, r.client_id, r.at)->>'name', app.name, '') AS "appName",
    r.grant_id AS "grantId", r.scope, r.endpoint, r.window_from AS "from", r.window_to AS "to", r.page,
    r.record_count AS "recordCount", r.request_id AS "requestId",
    CASE WHEN refusal.verdict IS NULL THEN 'released' ELSE 'refused' END AS outcome,
    coalesce(upper(refusal.verdict), '') AS reason
  FROM access_record AS r
  LEFT JOIN LATERAL (
    SELECT verdict FROM access_record WHERE refers_to = r.id AND id > r.id LIMIT 1
  ) AS refusal ON true
  LEFT JOIN app ON app.client_id = r.client_id
  WHERE r.user_ref = $1::uuid AND r.refers_to IS NULL AND ${idsFrom(2)}
  ORDER BY r.id`;

/** Pages of a person's accesses in a range, oldest first, with app names as in the access history. Null when no records belong to this user id. */
export async function findAccesses(
  snapshot: RecordsSnapshot,
  userId: string,
  range: RecordsRange,
): Promise<AsyncIterable<ExportedAccess[]> | null> {
  const [person] = await snapshot.query<{ ref: string }>(
    'SELECT user_ref::text AS ref FROM person WHERE user_id = $1',
    [userId],
  );
  if (person === undefined) return null;
  return snapshot.pages<ExportedAccess>(ACCESSES, ACCESSES_A_PAGE, [person.ref, range.from, range.to]);
}
