import { queryRows, readStatement, runStatement, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { Change } from './changes.ts';
import type { EvictionPublisher } from './redis-evictions.ts';

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

const SUMMARISE = readStatement(new URL('store/sql/summarise-person.sql', import.meta.url));

/** How many grants a person has had and has, and the last released read. */
export async function summarisePerson(pool: pg.Pool, userId: string) {
  type Summary = { total: number; active: number; lastAccessAt: Date | null };
  const [summary] = await queryRows<Summary>(pool, SUMMARISE, userId);
  return summary ?? { total: 0, active: 0, lastAccessAt: null };
}

const ERASE_EVENTS = readStatement(new URL('store/sql/erase-events.sql', import.meta.url));
const ANNOUNCE = readStatement(new URL('store/sql/announce-erasure.sql', import.meta.url));
const ERASE_GRANTS = readStatement(new URL('store/sql/erase-grants.sql', import.meta.url));
const ERASE_APPROVALS = readStatement(new URL('store/sql/erase-approvals.sql', import.meta.url));
const ERASE_PERSON = readStatement(new URL('store/sql/erase-person.sql', import.meta.url));
const DISOWN_APPS = readStatement(new URL('store/sql/disown-apps.sql', import.meta.url));

/** The judgement of an access needs the grant, so from the commit on every access to the person's data is refused. */
async function erase(tx: pg.ClientBase, userId: string): Promise<Erasure> {
  await lockPerson(tx, userId);
  await lockGrants(tx, userId);
  // Apps and the deployment learn that the grants have ended. Of all other events about the person nothing is kept, sent or not.
  await runStatement(tx, ERASE_EVENTS, userId);
  await runStatement(tx, ANNOUNCE, userId);
  const grants = await queryRows<{ id: string }>(tx, ERASE_GRANTS, userId);
  const pendingApprovals = await runStatement(tx, ERASE_APPROVALS, userId);
  await runStatement(tx, ERASE_PERSON, userId);
  await runStatement(tx, DISOWN_APPS, userId);
  return { grantIds: grants.map((grant) => grant.id), pendingApprovals };
}

const SHARE_PERSON = readStatement(new URL('store/sql/share-person.sql', import.meta.url));
const LOCK_GRANTS = readStatement(new URL('store/sql/lock-grants.sql', import.meta.url));
const LOCK_PERSON = readStatement(new URL('store/sql/lock-person.sql', import.meta.url));
const ADD = readStatement(new URL('store/sql/insert-person.sql', import.meta.url));

/** Adds a person who is not known yet. */
export async function addPerson(tx: pg.ClientBase, userId: string): Promise<void> {
  await runStatement(tx, ADD, userId);
}

/** Prevents the person's erasure until the transaction ends (shared lock). Taken before any row lock. */
export async function keepPerson(tx: pg.ClientBase, userId: string): Promise<void> {
  await runStatement(tx, SHARE_PERSON, userId);
}

/** Locks the grants of a person in the order of their ids, so that transactions that lock several of them cannot deadlock. */
export async function lockGrants(tx: pg.ClientBase, userId: string): Promise<void> {
  await runStatement(tx, LOCK_GRANTS, userId);
}

/** Takes the exclusive lock on the person, which waits for and blocks keepPerson. */
async function lockPerson(tx: pg.ClientBase, userId: string): Promise<void> {
  await runStatement(tx, LOCK_PERSON, userId);
}
