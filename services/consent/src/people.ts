import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { Change } from './changes.ts';
import { GRANT_FROM, GRANT_STATUS, LIVE } from './grant-rows.ts';
import type { EvictionPublisher } from './redis-evictions.ts';
import { ENDED, insertEvents } from './webhooks/events.ts';

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool };
  readonly change: Change;
  readonly evictions: EvictionPublisher;
}

/** What the erasure of a person removed. */
interface Erasure {
  readonly grantIds: readonly string[];
  readonly pendingApprovals: number;
}

export type People = ReturnType<typeof createPeople>;

/**
 * People in table `person`. A row is created with a person's first grant, change by an operator or download, and deleted with the person;
 * records identify them by 16 random bytes until then.
 */
export function createPeople({ pools: { ordinary }, change, evictions }: Parts) {
  return {
    /** Removes grants, decisions and the link to the records. An unknown or erased person has nothing to remove. In effect when it returns. */
    erase: (userId: string) =>
      change('erasure', async () => {
        const erasure = await transact(ordinary, (tx) => erase(tx, userId));
        for (const grantId of erasure.grantIds) evictions.publish({ case: 'grantId', value: grantId });
        return erasure;
      }),
  };
}

/** How many grants a person has had and has, and the last released read. Index: access_record_user_ref_id_idx. */
export async function summarisePerson(pool: pg.Pool, userId: string) {
  const [summary] = await select<{ total: number; active: number; lastAccessAt: Date | null }>(pool)`
    SELECT count(*)::int AS total, (count(*) FILTER (WHERE ${GRANT_STATUS} = 'active'))::int AS active, (
      SELECT r.at FROM access_record r
      WHERE r.user_ref = (SELECT user_ref FROM person WHERE user_id = ${userId}) AND r.refers_to IS NULL
        AND NOT EXISTS (SELECT FROM access_record f WHERE f.refers_to = r.id AND f.id > r.id)
      ORDER BY r.id DESC LIMIT 1) AS "lastAccessAt"
    FROM ${GRANT_FROM} WHERE g.user_id = ${userId}`;
  return summary ?? { total: 0, active: 0, lastAccessAt: null };
}

/** The judgement of an access needs the grant, so from the commit on every access to the person's data is refused. */
async function erase(tx: pg.ClientBase, userId: string): Promise<Erasure> {
  await lockPerson(tx, userId);
  await lockGrants(tx, userId);
  await keepLastEvents(tx, userId);
  const grants = await select<{ id: string }>(
    tx,
  )`DELETE FROM consent_grant WHERE user_id = ${userId} RETURNING id`;
  await execute(tx)`DELETE FROM refused_read WHERE grant_id = ANY(${grants.map(({ id }) => id)}::text[])`;
  const pendingApprovals = await execute(tx)`DELETE FROM pending_approval WHERE claimed_by = ${userId}`;
  await execute(tx)`DELETE FROM person WHERE user_id = ${userId}`;
  await execute(tx)`UPDATE app SET owner_id = '' WHERE owner_id = ${userId}`;
  return { grantIds: grants.map((grant) => grant.id), pendingApprovals };
}

/** Apps and the deployment learn that the grants have ended. Of all other events about the person nothing is kept, sent or not. */
async function keepLastEvents(tx: pg.ClientBase, userId: string): Promise<void> {
  await execute(tx)`
    DELETE FROM webhook_event e USING consent_grant g
    WHERE g.user_id = ${userId} AND e.grant_id = g.id
      AND NOT (e.state = 'pending' AND e.type IN ('grant.revoked', 'grant.expired', 'connection.ended'))`;
  await execute(tx)`
    WITH live AS (
      SELECT g.* FROM consent_grant g JOIN app a ON a.client_id = g.client_id
      WHERE g.user_id = ${userId} AND ${LIVE}
    )
    ${insertEvents(ENDED, sql`live`, { endedBy: 'person' })}`;
}

/** Prevents the person's erasure until the transaction ends (shared lock). Taken before any row lock. */
export async function keepPerson(tx: pg.ClientBase, userId: string): Promise<void> {
  await execute(tx)`SELECT pg_advisory_xact_lock_shared(hashtextextended('person ' || ${userId}, 0))`;
}

/** Locks the grants of a person in the order of their ids, so that transactions that lock several of them cannot deadlock. */
export async function lockGrants(tx: pg.ClientBase, userId: string): Promise<void> {
  await execute(tx)`SELECT 1 FROM consent_grant WHERE user_id = ${userId} ORDER BY id FOR UPDATE`;
}

/** Takes the exclusive lock on the person, which waits for and blocks keepPerson. */
async function lockPerson(tx: pg.ClientBase, userId: string): Promise<void> {
  await execute(tx)`SELECT pg_advisory_xact_lock(hashtextextended('person ' || ${userId}, 0))`;
}
