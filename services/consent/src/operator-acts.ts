import { type Listed, offsetOf, type Page, toPage } from '@phds/catalog/pagination';
import {
  type OperatorAct as OperatorActMessage,
  OperatorActSchema,
  OperatorActService,
  type OwnAct,
  OwnActSchema,
} from '@phds/contracts/phds/consent/v1/operator_acts_pb';
import type { CompletedAct } from '@phds/contracts/phds/consent/v1/people_pb';
import { hashOperatorEntry, type OperatorEntry } from '@phds/record-chain/operator-act';
import { invalidRequest, notFound } from '@phds/service-kit/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type { UserOf } from '@phds/service-kit/rpc/context';
import { MAX_REASON_LENGTH, type OperatorAct } from '@phds/service-kit/rpc/operator-acts';
import { type Row, toMessage } from '@phds/service-kit/rpc/rows';
import { implement } from '@phds/service-kit/rpc/service';
import { AUDITORS } from '@phds/service-kit/trust/callers';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { Change } from './changes.ts';
import { parseName, parseText } from './parameters.ts';
import { keepPerson } from './people.ts';

interface Parts {
  readonly pools: { readonly ordinary: pg.Pool };
  readonly change: Change;
}

export type OperatorActs = ReturnType<typeof createOperatorActs>;

/**
 * The record of what operators do, in table `operator_act`, to which the service can only add. An entry is an act before it begins, or the
 * outcome of one; `packages/record-chain` links them.
 */
export function createOperatorActs({ pools: { ordinary: pool }, change }: Parts) {
  return {
    /** The act may begin when it returns. Answers the number of its entry. */
    begin: (act: OperatorAct) => change(null, () => transact(pool, (tx) => begin(tx, act))),
    /** Throws `not_found` for an unknown act and for one with another outcome. */
    end: (number: bigint, outcome: string) =>
      change(null, () => transact(pool, (tx) => end(tx, number, outcome))),
    /** The entries after this number, ascending, with the people who are not erased. */
    list: (afterNumber: number, limit: number) =>
      select<Row<OperatorActMessage>>(pool)`
        SELECT a.number::float8 AS number, a.at, a.operator, a.rpc, a.user_ref::text AS "userRef", p.user_id AS "userId",
          a.client_id AS "clientId", a.grant_id AS "grantId", a.reason, a.request_id AS "requestId",
          a.ends::float8 AS ends, a.outcome, a.hash
        FROM consent_audit.operator_act a LEFT JOIN person p ON p.user_ref = a.user_ref
        WHERE a.number > ${afterNumber} ORDER BY a.number LIMIT ${limit}::int`,
    /** The acts on a person, their grants or data, newest first. */
    async listOfPerson(userId: string, page: Page): Promise<Listed<Row<OwnAct>>> {
      const acts = sql`
        FROM consent_audit.operator_act a JOIN person p ON p.user_ref = a.user_ref WHERE p.user_id = ${userId}`;
      const [items, counted] = await Promise.all([
        select<Row<OwnAct>>(pool)`
          SELECT own.number::float8 AS number, own.at, own.rpc, app.client_id AS "clientId", app.profile->>'name' AS "appName"
          FROM (SELECT a.* ${acts} ORDER BY a.number DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}) own
            LEFT JOIN consent_grant g ON g.id = own.grant_id LEFT JOIN app ON app.client_id = g.client_id
          ORDER BY own.number DESC`,
        select<{ total: number }>(pool)`SELECT count(*)::int AS total ${acts}`,
      ]);
      return { items, total: counted[0]?.total ?? 0 };
    },
    /** The acts with this request id that succeeded, with the entries of their outcomes, in the order in which they began. */
    listCompleted: (requestId: string) =>
      select<Row<CompletedAct>>(pool)`
        SELECT a.rpc, a.number::float8 AS number, a.hash, o.number::float8 AS "outcomeNumber", o.hash AS "outcomeHash"
        FROM consent_audit.operator_act a JOIN consent_audit.operator_act o ON o.ends = a.number AND o.ends <> 0 AND o.outcome = 'OK'
        WHERE a.request_id = ${requestId} AND a.ends = 0 ORDER BY a.number`,
  };
}

async function begin(tx: pg.ClientBase, act: OperatorAct): Promise<bigint> {
  const userRef = await findUserRef(tx, act);
  const { operator, rpc, clientId, grantId, reason, requestId } = act;
  return append(tx, { operator, rpc, userRef, clientId, grantId, reason, requestId, ends: 0, outcome: '' });
}

async function end(tx: pg.ClientBase, number: bigint, outcome: string): Promise<void> {
  if (number > Number.MAX_SAFE_INTEGER) throw notFound();
  const ends = Number(number);
  const [act] = await select<{ known: string | null }>(tx)`
    SELECT o.outcome AS known FROM consent_audit.operator_act a
      LEFT JOIN consent_audit.operator_act o ON o.ends = a.number AND o.ends <> 0
    WHERE a.number = ${ends} AND a.ends = 0`;
  if (act === undefined || (act.known !== null && act.known !== outcome)) throw notFound();
  if (act.known === null) await append(tx, { ...NOTHING, ends, outcome });
}

const NOTHING = { operator: '', rpc: '', userRef: '', clientId: '', grantId: '', reason: '', requestId: '' };

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
async function append(tx: pg.ClientBase, content: Omit<OperatorEntry, 'number' | 'at'>): Promise<bigint> {
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
  return BigInt(entry.number);
}

const DOWNLOAD = 'phds.consent.v1.OperatorActService/BeginDownload';

const RECORDING = ['authorization', 'health-data'];
const LARGEST_LIMIT = 1_000;
const LONGEST_OUTCOME = 64;

/** phds.consent.v1.OperatorActService. */
export function createOperatorActService({ acts, userOf }: { acts: OperatorActs; userOf: UserOf }) {
  return implement(
    OperatorActService,
    {
      async beginAct({ operator, rpc, userId, clientId, grantId, reason, requestId, changes }) {
        const number = await acts.begin({
          operator: parseName('operator', operator),
          rpc: parseName('rpc', rpc, 256),
          userId: parseText('user_id', userId),
          clientId: parseText('client_id', clientId),
          grantId: parseText('grant_id', grantId),
          reason: parseText('reason', reason, MAX_REASON_LENGTH),
          requestId: parseText('request_id', requestId),
          changes,
        });
        return { number };
      },
      async endAct({ number, outcome }) {
        await acts.end(number, parseName('outcome', outcome, LONGEST_OUTCOME));
        return {};
      },
      async beginDownload({ requestId }, context) {
        const userId = await userOf(context);
        const nothing = { operator: '', clientId: '', grantId: '', reason: '' };
        // As a change, so that also a person without a grant has a pseudonym, by which they find the entry.
        const act = {
          ...nothing,
          rpc: DOWNLOAD,
          userId,
          requestId: parseText('request_id', requestId),
          changes: true,
        };
        return { number: await acts.begin(act) };
      },
      async listActs({ afterNumber, limit }) {
        if (limit > LARGEST_LIMIT) throw invalidRequest('limit', `must be at most ${LARGEST_LIMIT}`);
        if (afterNumber > Number.MAX_SAFE_INTEGER) return { acts: [] };
        const entries = await acts.list(Number(afterNumber), limit === 0 ? LARGEST_LIMIT : limit);
        return { acts: entries.map((entry) => toMessage(OperatorActSchema, entry)) };
      },
      async listOwnActs({ page }, context) {
        const { items, total } = await acts.listOfPerson(await userOf(context), toPage(page));
        return { acts: items.map((act) => toMessage(OwnActSchema, act)), total };
      },
    },
    {
      beginDownload: ['gateway'],
      beginAct: RECORDING,
      endAct: RECORDING,
      listActs: AUDITORS,
      listOwnActs: ['gateway'],
    },
  );
}
