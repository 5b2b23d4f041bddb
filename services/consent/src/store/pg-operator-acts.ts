import { offsetOf } from '@phds/catalog/pagination';
import { hashOperatorEntry, type OperatorEntry } from '@phds/record-chain/operator-act';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type {
  CompletedAct,
  OperatorAct,
  OperatorActStore,
  OwnAct,
  StoredEntry,
} from '../app/operator-acts.ts';
import { keepPerson } from './person-locks.ts';

/** Entries in a table that the service can only add to. */
export function createPgOperatorActs(pool: pg.Pool): OperatorActStore {
  return translatingErrors({
    addAct: (act) =>
      transact(pool, async (tx) => {
        const userRef = await findUserRef(tx, act);
        const { operator, rpc, clientId, grantId, reason, requestId } = act;
        const entry = { operator, rpc, userRef, clientId, grantId, reason, requestId, ends: 0, outcome: '' };
        return append(tx, entry);
      }),
    addOutcome: (ends, outcome) =>
      transact(pool, async (tx) => {
        const [act] = await select<{ known: string | null }>(tx)`
          SELECT o.outcome AS known FROM consent_audit.operator_act a
            LEFT JOIN consent_audit.operator_act o ON o.ends = a.number AND o.ends <> 0
          WHERE a.number = ${ends} AND a.ends = 0`;
        if (act === undefined) return false;
        if (act.known !== null) return act.known === outcome;
        const none = {
          operator: '',
          rpc: '',
          userRef: '',
          clientId: '',
          grantId: '',
          reason: '',
          requestId: '',
        };
        await append(tx, { ...none, ends, outcome });
        return true;
      }),
    list: (afterNumber, limit) => select<StoredEntry>(pool)`
      SELECT a.number::float8 AS number, (extract(epoch FROM a.at) * 1000)::float8 AS at, a.operator, a.rpc,
        coalesce(a.user_ref::text, '') AS "userRef", coalesce(p.user_id, '') AS "userId", a.client_id AS "clientId",
        a.grant_id AS "grantId", a.reason, a.request_id AS "requestId", a.ends::float8 AS ends, a.outcome, a.hash
      FROM consent_audit.operator_act a LEFT JOIN person p ON p.user_ref = a.user_ref
      WHERE a.number > ${afterNumber} ORDER BY a.number LIMIT ${limit}::int`,
    async listOfPerson(userId, page) {
      const acts = sql`
        FROM consent_audit.operator_act a JOIN person p ON p.user_ref = a.user_ref WHERE p.user_id = ${userId}`;
      const [items, counted] = await Promise.all([
        select<OwnAct>(pool)`
          SELECT own.number::float8 AS number, own.at, own.rpc, app.client_id AS "clientId", coalesce(app.name, '') AS "appName"
          FROM (SELECT a.* ${acts} ORDER BY a.number DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}) own
            LEFT JOIN consent_grant g ON g.id = own.grant_id LEFT JOIN app ON app.client_id = g.client_id
          ORDER BY own.number DESC`,
        select<{ total: number }>(pool)`SELECT count(*)::int AS total ${acts}`,
      ]);
      return { items, total: counted[0]?.total ?? 0 };
    },
    listCompleted: (requestId) => select<CompletedAct>(pool)`
      SELECT a.rpc, a.number::float8 AS number, a.hash, o.number::float8 AS "outcomeNumber", o.hash AS "outcomeHash"
      FROM consent_audit.operator_act a JOIN consent_audit.operator_act o ON o.ends = a.number AND o.ends <> 0 AND o.outcome = 'OK'
      WHERE a.request_id = ${requestId} AND a.ends = 0 ORDER BY a.number`,
  });
}

const ERASURE = '/EraseUser';

/** The pseudonym of the person whom an act is about, also by a grant; empty for none. */
async function findUserRef(
  tx: pg.ClientBase,
  { rpc, userId, grantId, changes }: OperatorAct,
): Promise<string> {
  if (userId !== '') {
    await keepPerson(tx, userId);
    // An erasure must not leave the link that it removes, and health-data erases after consent. A read of an unknown person leaves none.
    if (changes && !rpc.endsWith(ERASURE)) {
      await execute(tx)`INSERT INTO person (user_id) VALUES (${userId}) ON CONFLICT DO NOTHING`;
    }
  }
  const [found] = await select<{ userRef: string }>(tx)`
    SELECT user_ref::text AS "userRef" FROM person WHERE user_id = ${userId}
    UNION ALL SELECT user_ref::text FROM consent_grant WHERE id = ${grantId} LIMIT 1`;
  return found?.userRef ?? '';
}

/** Appends an entry to the chain. Returns its number. */
async function append(tx: pg.ClientBase, content: Omit<OperatorEntry, 'number' | 'at'>): Promise<number> {
  await execute(tx)`SELECT pg_advisory_xact_lock(hashtextextended('operator acts', 0))`;
  const [last] = await select<{ number: number; hash: Uint8Array }>(tx)`
    SELECT number::float8 AS number, hash FROM consent_audit.operator_act ORDER BY operator_act.number DESC LIMIT 1`;
  const [clock] = await select<{ at: number }>(tx)`
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8 AS at`;
  if (clock === undefined) throw new Error('a clock without a time');
  const entry = { ...content, number: (last?.number ?? 0) + 1, at: clock.at };
  await execute(tx)`
    INSERT INTO consent_audit.operator_act (number, at, operator, rpc, user_ref, client_id, grant_id, reason, request_id, ends,
      outcome, hash)
    VALUES (${entry.number}, to_timestamp(${entry.at}::float8 / 1000), ${entry.operator}, ${entry.rpc},
      nullif(${entry.userRef}, '')::uuid, ${entry.clientId}, ${entry.grantId}, ${entry.reason}, ${entry.requestId},
      ${entry.ends}, ${entry.outcome}, ${hashOperatorEntry(last?.hash ?? null, entry)})`;
  return entry.number;
}
