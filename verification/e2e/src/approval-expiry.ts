import type { RunningStack } from '@phds/running-system/running-stack';
import pg from 'pg';

/** Expires a pending approval, which otherwise takes ten minutes. */
export async function expireApproval(
  { databases }: Pick<RunningStack, 'databases'>,
  id: string,
): Promise<void> {
  const database = new pg.Client({ connectionString: databases.consent.ownerUrl });
  await database.connect();
  await database.query('UPDATE pending_approval SET expires_at = now() WHERE id = $1', [id]);
  await database.end();
}
