import { AppError } from '@phds/service-kit/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { empty, type Sql } from 'sql-template-tag';
import type { Change } from './changes.ts';
import { addEvent } from './consent-events.ts';
import { found, getGrant } from './grant-lists.ts';
import {
  findGrant,
  GRANT_COLUMNS,
  GRANT_FROM,
  type GrantRow,
  IS_ENDING_EPOCH,
  UNREVOKED,
} from './grant-rows.ts';
import { lockGrants } from './people.ts';
import type { EvictionPublisher } from './redis-evictions.ts';
import { type Narrowing, narrowTerms, sameTerms } from './terms.ts';
import { insertDeletionRequested, insertRevoked, writeNarrowed } from './webhooks/events.ts';

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool; readonly revocations: pg.Pool };
  readonly change: Change;
  readonly evictions: EvictionPublisher;
  /** `phds restore replay` reads the lines of it after a restore (docs/operations/restore-and-backup.md#after-a-restore). */
  readonly log: { info(fields: { readonly grantId: string }, text: string): void };
}

export type Grants = ReturnType<typeof createGrants>;

/**
 * How people, apps and operators withdraw grants. Only the database's clock decides what has expired. Each change locks the row, adds to
 * the grant's history, and is in effect when it returns. An unknown grant, and another person's or app's, is `not_found`. Withdrawals have
 * a pool of their own.
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
    /** Each returns when the grant ended; one that had ended keeps its status and time. */
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
  await execute(tx)`SELECT 1 FROM consent_grant WHERE id = ${id} AND user_id = ${userId} FOR UPDATE`;
  const [row] = await select<GrantRow & { now: Date }>(tx)`
    SELECT ${GRANT_COLUMNS}, statement_timestamp() AS now
    FROM ${GRANT_FROM} WHERE g.id = ${id} AND g.user_id = ${userId}`;
  const { now, ...grant } = found(row);
  if (grant.status !== 'active') throw new AppError('conflict', `The grant is ${grant.status}.`);
  const terms = narrowTerms(grant, narrowing, now);
  if (sameTerms(grant, terms)) return;
  await writeNarrowed(tx, id, terms, 'connection.narrowed');
  await addEvent(tx, { kind: 'narrowed', grantId: id, at: now, terms });
}

/** Adds the end of the grants `ended` to their history. One that had expired before ended then. */
const TELL_REVOKED = sql`
  INSERT INTO consent_event (id, grant_id, at, kind, scopes, expires_at, data_from)
  SELECT gen_random_uuid(), id, revoked_at, 'revoked', scopes, expires_at, data_from FROM ended
  WHERE revoked_at < expires_at`;

/** Whose grant it has to be: of the person or the app that ends it, or of anybody, for an operator. */
type Owner = { readonly userId: string } | { readonly clientId: string } | 'anybody';

function isOwnedBy(owner: Owner): Sql {
  if (owner === 'anybody') return sql`true`;
  return 'userId' in owner ? sql`g.user_id = ${owner.userId}` : sql`g.client_id = ${owner.clientId}`;
}

/**
 * One statement, so that a revocation needs one round trip. It uses the newest version of the row and reads the clock after the row
 * is locked, so its time is after any change that it waited for. An expired grant gets a time, too: the clock may go back, to that
 * of another server, and what was acknowledged holds all the same. The end by an app or an operator is no
 * event of the person's history: `revoked_by` says it.
 */
async function revoke(pool: pg.Pool, id: string, owner: Owner): Promise<Date | null> {
  const by = enderOf(owner);
  const told = by !== 'person' ? empty : sql`told AS (${TELL_REVOKED}),`;
  const [ended] = await select<{ revokedAt: Date }>(pool)`
    WITH ended AS (
      UPDATE consent_grant g SET revoked_at = clock_timestamp(), closed_at = coalesce(g.closed_at, clock_timestamp()),
        revoked_by = ${by === 'person' ? null : by}
      WHERE g.id = ${id} AND ${isOwnedBy(owner)} AND g.revoked_at IS NULL
        AND NOT EXISTS (SELECT FROM app_epoch e WHERE ${IS_ENDING_EPOCH} AND e.started_at < g.expires_at)
      RETURNING g.*
    ), ${told} notified AS (${insertRevoked(by)})
    SELECT least(revoked_at, expires_at) AS "revokedAt" FROM ended`;
  return ended === undefined ? findEnd(pool, id, owner) : ended.revokedAt;
}

function enderOf(owner: Owner): 'person' | 'app' | 'operator' {
  if (owner === 'anybody') return 'operator';
  return 'userId' in owner ? 'person' : 'app';
}

/** When a grant that had ended before did so, also by expiry; null when it is unknown, or another person's or app's. */
async function findEnd(pool: pg.Pool, id: string, owner: Owner): Promise<Date | null> {
  const grant = await findGrant(pool, id, owner === 'anybody' ? {} : owner);
  if (grant === null) return null;
  if (grant.status === 'active') throw new Error(`grant ${id} has not ended`);
  return grant.revokedAt ?? grant.expiresAt;
}

async function requestDeletion(pool: pg.Pool, id: string, userId: string): Promise<Date | null> {
  const [requested] = await select<{ at: Date }>(pool)`
    WITH requested AS (
      UPDATE consent_grant SET deletion_requested_at = clock_timestamp()
      WHERE id = ${id} AND user_id = ${userId} AND deletion_requested_at IS NULL
      RETURNING *
    ), told AS (
      INSERT INTO consent_event (id, grant_id, at, kind, scopes, expires_at, data_from)
      SELECT gen_random_uuid(), id, deletion_requested_at, 'deletion_requested', scopes, expires_at, data_from FROM requested
    ), announced AS (${insertDeletionRequested(sql`requested`)})
    SELECT deletion_requested_at AS at FROM requested`;
  if (requested !== undefined) return requested.at;
  const [known] = await select<{ at: Date | null }>(
    pool,
  )`SELECT deletion_requested_at AS at FROM consent_grant WHERE id = ${id} AND user_id = ${userId}`;
  return known?.at ?? null;
}

async function revokeAll(tx: pg.ClientBase, userId: string): Promise<string[]> {
  await lockGrants(tx, userId);
  const ended = await select<{ id: string }>(tx)`
    WITH ended AS (
      UPDATE consent_grant g SET revoked_at = statement_timestamp(), closed_at = coalesce(g.closed_at, statement_timestamp())
      FROM app a
      WHERE a.client_id = g.client_id AND g.user_id = ${userId} AND ${UNREVOKED}
      RETURNING g.*
    ), told AS (${TELL_REVOKED}), notified AS (${insertRevoked('person')})
    SELECT id FROM ended WHERE revoked_at < expires_at`;
  return ended.map((grant) => grant.id);
}
