import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { PendingApproval } from '../domain/pending-approval.ts';
import { lockPending, readPending } from './pending-locks.ts';

/** A claimed pending approval and its claimant. */
interface Claim {
  readonly id: string;
  readonly userId: string;
}

type Refuse = (pending: PendingApproval) => void;

/** Sets the end `seconds` from now and counts the extension, unless `refuse` throws. Null unless it is claimed by this user. */
export async function extendClaimed(
  tx: pg.ClientBase,
  { id, userId, seconds }: Claim & { readonly seconds: number },
  refuse: Refuse,
): Promise<Date | null> {
  if ((await lockPending(tx, id, userId)) === null) return null;
  const { pending } = await readPending(tx, id);
  if (pending.claimedBy === null) return null;
  refuse(pending);
  const [extended] = await select<{ expiresAt: Date }>(tx)`
    UPDATE pending_approval
    SET expires_at = statement_timestamp() + make_interval(secs => ${seconds}::int), extensions = extensions + 1
    WHERE id = ${id} RETURNING expires_at AS "expiresAt"`;
  return extended?.expiresAt ?? null;
}

/** Removes the claim, unless `refuse` throws. False when unknown or claimed by another user. */
export async function releaseClaimed(
  tx: pg.ClientBase,
  { id, userId }: Claim,
  refuse: Refuse,
): Promise<boolean> {
  if ((await lockPending(tx, id, userId)) === null) return false;
  const { pending } = await readPending(tx, id);
  refuse(pending);
  await execute(tx)`UPDATE pending_approval SET claimed_by = NULL WHERE id = ${id}`;
  return true;
}
