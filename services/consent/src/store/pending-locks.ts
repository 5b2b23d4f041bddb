import { mayShareWith } from '@phds/catalog/sandbox';
import type { PendingApproval } from '../domain/pending-approval.ts';
import { Prisma } from './generated/client.ts';
import { PENDING_COLUMNS, PENDING_FROM, type PendingRow, toPendingApproval } from './pending-rows.ts';

type Transaction = Prisma.TransactionClient;

/**
 * Locks the pending approval and returns its app; null when unknown or another person's, as every request of a sandbox app is for a
 * person who is not one of its own.
 */
export async function lockPending(tx: Transaction, id: string, userId: string): Promise<string | null> {
  const [row] = await tx.$queryRaw<{ clientId: string; claimedBy: string | null }[]>`
    SELECT client_id AS "clientId", claimed_by AS "claimedBy" FROM pending_approval WHERE id = ${id} FOR UPDATE`;
  if (row === undefined || (row.claimedBy !== null && row.claimedBy !== userId)) return null;
  return mayShareWith(userId, row.clientId) ? row.clientId : null;
}

/** Read by a separate statement after the lock, in a fresh snapshot with the current clock. */
export async function readPending(
  tx: Transaction,
  id: string,
): Promise<{ pending: PendingApproval; now: Date }> {
  const [row] = await tx.$queryRaw<(PendingRow & { now: Date })[]>`
    SELECT ${Prisma.raw(PENDING_COLUMNS)}, statement_timestamp() AS now
    FROM ${Prisma.raw(PENDING_FROM)} WHERE p.id = ${id}`;
  if (row === undefined) throw new Error(`pending approval ${id} has no app`);
  return { pending: toPendingApproval(row), now: row.now };
}
