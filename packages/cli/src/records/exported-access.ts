import type { ExportedAccess } from '@phds/catalog/access-csv';
import type { RecordsSnapshot } from './snapshot.ts';

const ACCESSES_A_PAGE = 1_000;

/**
 * Pages of a person's accesses, oldest first, with app names as in the access history (`shownAppOf` in consent). Null when no
 * records belong to this user id.
 */
export async function findAccesses(
  snapshot: RecordsSnapshot,
  userId: string,
): Promise<AsyncIterable<ExportedAccess[]> | null> {
  const [person] = await snapshot.query<{ ref: string }>(
    'SELECT user_ref::text AS ref FROM person WHERE user_id = $1',
    [userId],
  );
  if (person === undefined) return null;
  return snapshot.pages<ExportedAccess>(
    `SELECT 'acc_' || replace(r.id::text, '-', '') AS id,
       to_char(r.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS at, r.client_id AS app,
       coalesce(shown.name, oldest.name, a.name, '') AS "appName", r.grant_id AS "grantId", r.scope, r.endpoint,
       r.window_from AS "from", r.window_to AS "to", r.page, r.record_count AS "recordCount", r.request_id AS "requestId",
       CASE WHEN f.verdict IS NULL THEN 'released' ELSE 'refused' END AS outcome, coalesce(upper(f.verdict), '') AS reason
     FROM access_record r
     LEFT JOIN LATERAL (SELECT verdict FROM access_record f WHERE f.refers_to = r.id AND f.id > r.id LIMIT 1) f ON true
     LEFT JOIN LATERAL (SELECT coalesce(
       (SELECT s.shown_app FROM consent_event s
        WHERE s.grant_id = r.grant_id AND s.at <= r.at AND s.shown_app IS NOT NULL ORDER BY s.at DESC LIMIT 1),
       (SELECT s.shown_app FROM consent_event s WHERE s.grant_id = r.grant_id AND s.kind = 'granted' ORDER BY s.at LIMIT 1)
     )->>'name' AS name) shown ON true
     LEFT JOIN app_profile oldest ON oldest.client_id = r.client_id AND oldest.version = 1
     LEFT JOIN app a ON a.client_id = r.client_id
     WHERE r.user_ref = $1::uuid AND r.refers_to IS NULL ORDER BY r.id`,
    ACCESSES_A_PAGE,
    [person.ref],
  );
}
