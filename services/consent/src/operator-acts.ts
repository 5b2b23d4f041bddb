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
import { queryCount, queryRows, readStatement, runStatement, transact } from '@phds/service-kit/postgres/sql';
import type { UserOf } from '@phds/service-kit/rpc/context';
import { type Row, toMessage } from '@phds/service-kit/rpc/messages';
import { MAX_REASON_LENGTH, type OperatorAct } from '@phds/service-kit/rpc/operator-acts';
import { implement } from '@phds/service-kit/rpc/service';
import { AUDITORS } from '@phds/service-kit/trust/callers';
import type pg from 'pg';
import type { Change } from './changes.ts';
import { parseName, parseText } from './parameters.ts';
import { addPerson, keepPerson } from './people.ts';

const LIST = readStatement(new URL('store/sql/list-operator-acts.sql', import.meta.url));
const LIST_ON_PERSON = readStatement(new URL('store/sql/list-acts-on-person.sql', import.meta.url));
const COUNT_ON_PERSON = readStatement(new URL('store/sql/count-acts-on-person.sql', import.meta.url));
const LIST_COMPLETED = readStatement(new URL('store/sql/list-completed-acts.sql', import.meta.url));
const FIND = readStatement(new URL('store/sql/find-act.sql', import.meta.url));
const FIND_USER_REF = readStatement(new URL('store/sql/find-user-ref.sql', import.meta.url));
const LOCK = readStatement(new URL('store/sql/lock-operator-acts.sql', import.meta.url));
const FIND_LAST = readStatement(new URL('store/sql/find-last-act.sql', import.meta.url));
const INSERT = readStatement(new URL('store/sql/insert-operator-act.sql', import.meta.url));

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
      queryRows<Row<OperatorActMessage>>(pool, LIST, afterNumber, limit),
    /** The acts on a person, their grants or data, newest first. */
    async listOfPerson(userId: string, page: Page): Promise<Listed<Row<OwnAct>>> {
      const [items, total] = await Promise.all([
        queryRows<Row<OwnAct>>(pool, LIST_ON_PERSON, userId, page.pageSize, offsetOf(page)),
        queryCount(pool, COUNT_ON_PERSON, userId),
      ]);
      return { items, total };
    },
    /** The acts with this request id that succeeded, with the entries of their outcomes, in the order in which they began. */
    listCompleted: (requestId: string) => queryRows<Row<CompletedAct>>(pool, LIST_COMPLETED, requestId),
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
  const [act] = await queryRows<{ known: string | null }>(tx, FIND, ends);
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
    if (changes && !rpc.endsWith(ERASURE)) await addPerson(tx, userId);
  }
  const [found] = await queryRows<{ userRef: string }>(tx, FIND_USER_REF, userId, grantId);
  return found?.userRef ?? '';
}

/** Null at the beginning of the chain. */
interface LastEntry {
  readonly number: number | null;
  readonly hash: Uint8Array | null;
  /** The time of the database, in Unix milliseconds. */
  readonly at: number;
}

/** Appends an entry to the chain. Returns its number. */
async function append(tx: pg.ClientBase, content: Omit<OperatorEntry, 'number' | 'at'>): Promise<bigint> {
  await runStatement(tx, LOCK);
  const [last] = await queryRows<LastEntry>(tx, FIND_LAST);
  if (last === undefined) throw new Error('a clock without a time');
  const entry = { ...content, number: (last.number ?? 0) + 1, at: last.at };
  const { number, at, operator, rpc, userRef, clientId, grantId, reason, requestId, ends, outcome } = entry;
  const act = [number, at, operator, rpc, userRef, clientId, grantId, reason, requestId, ends, outcome];
  await runStatement(tx, INSERT, ...act, hashOperatorEntry(last.hash, entry));
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
