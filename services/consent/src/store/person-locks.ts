import { execute } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';

/** Prevents the person's erasure until the transaction ends (shared lock). Taken before any row lock. */
export async function keepPerson(tx: pg.ClientBase, userId: string): Promise<void> {
  await execute(tx)`SELECT pg_advisory_xact_lock_shared(hashtextextended('person ' || ${userId}, 0))`;
}

/** Locks the grants of a person in the order of their ids, so that transactions that lock several of them cannot deadlock. */
export async function lockGrants(tx: pg.ClientBase, userId: string): Promise<void> {
  await execute(tx)`SELECT 1 FROM consent_grant WHERE user_id = ${userId} ORDER BY id FOR UPDATE`;
}

/** Takes the exclusive lock on the person, which waits for and blocks keepPerson. */
export async function lockPerson(tx: pg.ClientBase, userId: string): Promise<void> {
  await execute(tx)`SELECT pg_advisory_xact_lock(hashtextextended('person ' || ${userId}, 0))`;
}
