import { AppError } from '@phds/service-kit/errors';
import { queryRows, readStatement, runStatement, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { Change } from './changes.ts';
import { addEvent } from './consent-events.ts';
import { found, getGrant } from './grant-lists.ts';
import { findGrant, type GrantRow, type Owner, toOwnerValues } from './grant-rows.ts';
import { lockGrants } from './people.ts';
import type { EvictionPublisher } from './redis-evictions.ts';
import { type Narrowing, narrowTerms, sameTerms } from './terms.ts';
import { writeNarrowed } from './webhooks/events.ts';

const LOCK = readStatement(new URL('store/sql/lock-own-grant.sql', import.meta.url));
const READ = readStatement(new URL('store/sql/read-own-grant.sql', import.meta.url));
const REVOKE = readStatement(new URL('store/sql/revoke-grant.sql', import.meta.url));
const REVOKE_ALL = readStatement(new URL('store/sql/revoke-all-grants.sql', import.meta.url));
const REQUEST_DELETION = readStatement(new URL('store/sql/request-deletion.sql', import.meta.url));

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool; readonly revocations: pg.Pool };
  readonly change: Change;
  readonly evictions: EvictionPublisher;
  /** `phds restore replay` reads the lines of it after a restore (docs/operations/restore-and-backup.md#after-a-restore). */
  readonly log: { info(fields: { readonly grantId: string }, text: string): void };
}

export type Grants = ReturnType<typeof createGrants>;

/**
 * How people, apps and operators withdraw grants. Only the database's clock decides what has expired. Each change locks the row and is
 * in effect when it returns. What the person changed is in the grant's history; `revoked_by` names an app or an operator that ended it.
 * An unknown grant, and another person's or app's, is `not_found`. Withdrawals have a pool of their own.
 */
export function createGrants({ pools: { ordinary, revocations }, change, evictions, log }: Parts) {
  const evict = (grantId: string) => evictions.publish({ case: 'grantId', value: grantId });
  const end = (kind: 'grant' | 'grant_by_app' | 'grant_by_operator', id: string, owner: Owner) =>
    change(kind, async () => {
      const revokedAt = found(await revoke(revocations, id, owner));
      evict(id);
      log.info({ grantId: id }, 'grant ended');
      return revokedAt;
    });
  return {
    /** Throws `conflict` for an ended grant, `invalid_request` for a widening. */
    narrow: (id: string, userId: string, narrowing: Narrowing) =>
      change('narrowing', async () => {
        await transact(revocations, (tx) => narrow(tx, id, userId, narrowing));
        evict(id);
        log.info({ grantId: id }, 'grant narrowed');
        return getGrant(revocations, id, userId);
      }),
    /** Each returns the time at which the grant ended; one that had ended keeps its status and time. */
    revoke: (id: string, userId: string) => end('grant', id, { userId }),
    revokeByApp: (id: string, clientId: string) => end('grant_by_app', id, { clientId }),
    endByOperator: (id: string) => end('grant_by_operator', id, 'anybody'),
    /** Returns how many were active. */
    revokeAll: (userId: string) =>
      change('all_grants', async () => {
        const ended = await transact(revocations, (tx) => revokeAll(tx, userId));
        for (const id of ended) {
          evict(id);
          log.info({ grantId: id }, 'grant ended');
        }
        return ended.length;
      }),
    /** Asks the app to delete what it has read; returns the time of the first request. Also for an ended grant. */
    requestDeletion: (id: string, userId: string) =>
      change(null, async () => found(await requestDeletion(ordinary, id, userId))),
  };
}

/** The grant is read by a separate statement after the lock, in a fresh snapshot with the current clock. */
async function narrow(tx: pg.ClientBase, id: string, userId: string, narrowing: Narrowing): Promise<void> {
  await runStatement(tx, LOCK, id, userId);
  const [row] = await queryRows<GrantRow & { now: Date }>(tx, READ, id, userId);
  const { now, ...grant } = found(row);
  if (grant.status !== 'active') throw new AppError('conflict', `The grant is ${grant.status}.`);
  const terms = narrowTerms(grant, narrowing, now);
  if (sameTerms(grant, terms)) return;
  await writeNarrowed(tx, id, terms, 'connection.narrowed');
  await addEvent(tx, { kind: 'narrowed', grantId: id, at: now, terms });
}

/** One statement and one round trip, unless the grant had ended before. Null when it is unknown, or another person's or app's. */
async function revoke(pool: pg.Pool, id: string, owner: Owner): Promise<Date | null> {
  const [ended] = await queryRows<{ revokedAt: Date }>(pool, REVOKE, id, ...toOwnerValues(owner));
  return ended === undefined ? findEnd(pool, id, owner) : ended.revokedAt;
}

/** When a grant that had ended before did so, also by expiry; null when it is unknown, or another person's or app's. */
async function findEnd(pool: pg.Pool, id: string, owner: Owner): Promise<Date | null> {
  const grant = await findGrant(pool, id, owner);
  if (grant === null) return null;
  if (grant.status === 'active') throw new Error(`grant ${id} has not ended`);
  return grant.revokedAt ?? grant.expiresAt;
}

async function requestDeletion(pool: pg.Pool, id: string, userId: string): Promise<Date | null> {
  const [requested] = await queryRows<{ at: Date }>(pool, REQUEST_DELETION, id, userId);
  if (requested !== undefined) return requested.at;
  return (await findGrant(pool, id, { userId }))?.deletionRequestedAt ?? null;
}

async function revokeAll(tx: pg.ClientBase, userId: string): Promise<string[]> {
  await lockGrants(tx, userId);
  const ended = await queryRows<{ id: string }>(tx, REVOKE_ALL, userId);
  return ended.map((grant) => grant.id);
}
