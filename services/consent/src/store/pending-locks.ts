import { notFound } from '@phds/service-kit/errors';
import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { PendingApproval } from '../domain/pending-approval.ts';
import { PENDING_COLUMNS, PENDING_FROM, type PendingRow, toPendingApproval } from './pending-rows.ts';

/** Locks the pending approval and returns its app. Throws `not_found` when it is unknown or another person's. */
export async function lockPending(tx: pg.ClientBase, id: string, userId: string): Promise<string> {
  const [row] = await select<{ clientId: string; claimedBy: string | null }>(tx)`
    SELECT client_id AS "clientId", claimed_by AS "claimedBy" FROM pending_approval WHERE id = ${id} FOR UPDATE`;
  if (row === undefined || (row.claimedBy !== null && row.claimedBy !== userId)) throw notFound();
  return row.clientId;
}

/** Read by a separate statement after the lock, in a fresh snapshot with the current clock. */
export async function readPending(
  tx: pg.ClientBase,
  id: string,
): Promise<{ pending: PendingApproval; now: Date }> {
  const [row] = await select<PendingRow & { now: Date }>(tx)`
    SELECT ${PENDING_COLUMNS}, statement_timestamp() AS now
    FROM ${PENDING_FROM} WHERE p.id = ${id}`;
  if (row === undefined) throw new Error(`pending approval ${id} has no app`);
  return { pending: toPendingApproval(row), now: row.now };
}
