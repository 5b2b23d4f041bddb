import { openTestPool } from './test-pool.ts';

/**
 * Lets days pass for a grant: moves its start, its end, its history and its counted reads into the past. The database's clock cannot
 * be set. `adminUrl` connects to consent's database as administrator of the server.
 */
export async function letDaysPass(adminUrl: string, grantId: string, days: number): Promise<void> {
  const admin = openTestPool(adminUrl, { max: 1, options: '-c search_path=consent' });
  try {
    // The history is append-only for everybody else.
    await admin.query('SET session_replication_role = replica');
    await admin.query(
      `UPDATE consent_grant SET granted_at = granted_at - make_interval(days => $2),
         expires_at = expires_at - make_interval(days => $2) WHERE id = $1`,
      [grantId, days],
    );
    await admin.query(
      `UPDATE consent_event SET at = at - make_interval(days => $2),
         expires_at = expires_at - make_interval(days => $2) WHERE grant_id = $1`,
      [grantId, days],
    );
    await admin.query('UPDATE access_day SET day = day - $2::int WHERE grant_id = $1', [grantId, days]);
  } finally {
    await admin.end();
  }
}
