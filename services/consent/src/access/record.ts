import { randomUUID } from 'node:crypto';
import { type AccessRecord, digestAccessRecord, hashBatch, hashBeginning } from '@phds/record-chain/chain';
import { Batcher } from '@phds/service-kit/batcher';
import type { Clock } from '@phds/service-kit/clock';
import { AppError } from '@phds/service-kit/errors';
import { translateDatabaseError } from '@phds/service-kit/postgres/errors';
import { LRUCache } from 'lru-cache';
import { createAccessRecordStamps } from './stamps.ts';
import type { Access, AccessStatements, Judgement, Verdict } from './statements.ts';

// An access is recorded in three steps: its record is inserted and committed, it is judged by a statement that begins after that commit,
// and a refusal is inserted as a record of its own. Calls that arrive while an insert is in flight share the next one. One insert is in
// flight at a time, because the chain follows the order of inserts. The judgement of a batch may overlap the next insert, but no more:
// while judgements hang, nothing is recorded that could not be released. A failed insert may have been committed, so the next one begins
// another chain. Nothing is repeated: a call whose step fails is not released.

interface Dependencies {
  readonly statements: AccessStatements;
  readonly clock: Clock;
  /** Maximum number of accesses and refusals that wait for their insert; further calls are refused immediately. */
  readonly maxQueued: number;
  /** Maximum wait of an access for its insert, in milliseconds. Refusals wait as long as it takes. */
  readonly maxWaitMs: number;
  /** Maximum number of accesses in one batch; no single call has more. */
  readonly maxBatch: number;
  /** Number of grants whose references are cached. */
  readonly maxGrants: number;
}

/** Why a recorded response was not released. */
interface Refusal {
  readonly accessRecord: AccessRecord;
  readonly verdict: Verdict;
}

/** What a call has inserted together: its accesses or, later, its refusals. */
interface Entry {
  readonly accesses: readonly Access[];
  readonly refusals: readonly Refusal[];
}

/** The committed records of an entry. */
interface Recorded {
  readonly records: readonly AccessRecord[];
  /** The judgements of all entries of the batch; those of this one are at `index`. */
  readonly judging: Promise<readonly Judgement[][]>;
  readonly index: number;
}

export type AccessRecorder = ReturnType<typeof createAccessRecorder>;

/**
 * Records the accesses of this process. `record` records, commits, and only then judges. It returns one verdict each, in order, after
 * refusals are recorded too, and throws `access_not_recorded` for the whole call when any step fails. A record may then describe a
 * response that was never released, but never the reverse. Disposal waits for calls in progress.
 */
export function createAccessRecorder(dependencies: Dependencies) {
  const { statements, maxBatch, maxQueued, maxWaitMs } = dependencies;
  const chain = createChain(dependencies);
  let judged: Promise<unknown> = Promise.resolve();
  let unjudged = 0;
  let unrecorded = 0;
  const insertAndJudge = async (entries: readonly Entry[]): Promise<Recorded[]> => {
    const recorded = await chain.insert(entries);
    unjudged = entries.flatMap(({ accesses }) => accesses).length;
    await judged;
    unjudged = 0;
    const judging = judge(statements, entries, recorded);
    judged = judging.catch(() => undefined);
    return recorded.map((records, index) => ({ records, judging, index }));
  };
  const inserts = new Batcher(insertAndJudge, {
    maxQueued,
    maxWaitMs,
    maxCost: maxBatch,
    costOf: ({ accesses, refusals }: Entry) => accesses.length + refusals.length,
    // Refusals and accesses take turns. A lost refusal would leave its access recorded as released.
    keyOf: ({ refusals }: Entry) => (refusals.length > 0 ? 'refusals' : 'accesses'),
    keptKey: 'refusals',
  });
  const running = new Set<Promise<unknown>>();

  const recordAll = async (accesses: readonly Access[]): Promise<Verdict[]> => {
    const { records, judging, index } = await inserts.add({ accesses, refusals: [] });
    const verdicts = (await judging)[index] ?? [];
    const refusals = toRefusals(records, verdicts);
    if (refusals.length > 0) await inserts.add({ accesses: [], refusals });
    return verdicts as Verdict[];
  };
  return {
    async record(accesses: readonly Access[]): Promise<Verdict[]> {
      if (accesses.length > maxBatch) throw new RangeError('too many accesses in one call');
      const call = recordAll(accesses);
      running.add(call);
      try {
        return await call;
      } catch (error) {
        unrecorded += accesses.length;
        const options = { cause: error, retryAfterSeconds: 1 };
        throw new AppError('access_not_recorded', 'The access could not be recorded.', options);
      } finally {
        running.delete(call);
      }
    },
    /** Continues with another chain, because the database may lack the end of the present one. */
    beginChain: chain.end,
    /** Number of accesses and refusals that wait for their insert, and of accesses that wait for the judgement before theirs. */
    get waiting() {
      return inserts.waiting + unjudged;
    },
    /** Number of accesses that were not recorded or not judged. */
    get unrecorded() {
      return unrecorded;
    },
    async [Symbol.asyncDispose]() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}

/** The chain of this process. Only one insert may be in progress. */
function createChain({ statements, clock, maxGrants }: Dependencies) {
  const stamps = createAccessRecordStamps(clock);
  const refs = createGrantRefs(statements, maxGrants);
  const begin = () => {
    const writer = randomUUID();
    return { writer, seq: 0, previousHash: hashBeginning(writer) };
  };
  let next = begin();
  let isOver = false;
  return {
    /** Takes effect with the next insert, because one of the present chain may be in progress. */
    end() {
      isOver = true;
    },
    /** Commits the records of all entries as one batch, and returns those of each. */
    async insert(entries: readonly Entry[]): Promise<AccessRecord[][]> {
      const userRefs = await refs(
        entries.flatMap(({ accesses }) => accesses.map((access) => access.grantId)),
      );
      const referred = entries.flatMap(({ refusals }) => refusals.map(({ accessRecord }) => accessRecord.at));
      // Time never decreases within a chain.
      if (stamps.isAhead()) {
        isOver = true;
        stamps.restart();
      }
      const { at, ids } = stamps.next(userRefs.length + referred.length, Math.max(0, ...referred));
      const [nextId, nextRef] = [takingFrom(ids), takingFrom(userRefs)];
      const records = entries.map(({ accesses, refusals }) => [
        // A record of its own, which repeats the fields of the refused one so that it can be counted by itself.
        ...refusals.map(({ accessRecord, verdict }) => {
          return { ...accessRecord, id: nextId(), at, refersTo: accessRecord.id, verdict };
        }),
        ...accesses.map((access) => toAccessRecord(access, nextRef(), nextId(), at)),
      ]);
      if (isOver) next = begin();
      isOver = false;
      const { writer, seq, previousHash } = next;
      const accessRecords = records.flat();
      const digests = Buffer.concat(accessRecords.map(digestAccessRecord));
      const hash = hashBatch(previousHash, seq, digests);
      try {
        await statements.insert({
          ...next,
          at,
          recordCount: accessRecords.length,
          digests,
          hash,
          accessRecords,
        });
      } catch (error) {
        isOver = true;
        throwTranslated(error);
      }
      next = { writer, seq: seq + 1, previousHash: hash };
      return records;
    },
  };
}

/** Where Postgres is asked: after its own error about one item, the batcher would insert the halves of the batch. */
function throwTranslated(error: unknown): never {
  throw translateDatabaseError(error);
}

function takingFrom(values: readonly Uint8Array[]): () => Uint8Array {
  const next = values.values();
  return () => next.next().value ?? new Uint8Array();
}

/** Returns the judgements of each entry. */
async function judge(
  statements: AccessStatements,
  entries: readonly Entry[],
  recorded: readonly AccessRecord[][],
): Promise<Judgement[][]> {
  const accesses = entries.flatMap((entry) => entry.accesses);
  if (accesses.length === 0) return [];
  const userRefs = recorded.flat().flatMap(({ refersTo, userRef }) => (refersTo === null ? [userRef] : []));
  const judgements = await statements.judge(accesses, userRefs).catch(throwTranslated);
  // A missing verdict must never count as released.
  if (judgements.length !== accesses.length) throw new Error('the number of judgements is wrong');
  const next = judgements.values();
  return entries.map((entry) => entry.accesses.map(() => next.next().value as Judgement));
}

/** Throws unless all judgements are verdicts. */
function toRefusals(records: readonly AccessRecord[], judgements: readonly Judgement[]): Refusal[] {
  return records.flatMap((accessRecord, index) => {
    const verdict = judgements[index];
    // The grant was created after its reference was looked up; the next read finds it.
    if (verdict === 'reference_differs' || verdict === undefined)
      throw new Error('the record lacks the reference of its grant');
    return verdict === 'released' ? [] : [{ accessRecord, verdict }];
  });
}

/** The reference for grants that do not exist or no longer exist. Such accesses are refused and belong to nobody's history. */
const NOBODY = new Uint8Array(16);

/**
 * Returns the reference of each grant's person, in order, with a cache of the `limit` most recently used ones, so that most batches need no
 * look-up. A cached reference never becomes wrong, because that of a grant never changes: a person who consents again after an erasure gets
 * new grant ids and a new reference. `NOBODY` is not cached, because the grant may be created a moment later.
 */
function createGrantRefs(statements: Pick<AccessStatements, 'findRefs'>, limit: number) {
  const kept = new LRUCache<string, Uint8Array>({ max: limit });
  return async (grantIds: readonly string[]): Promise<Uint8Array[]> => {
    const refs = grantIds.map((grantId) => kept.get(grantId));
    const missing = new Set(grantIds.filter((_, index) => refs[index] === undefined));
    if (missing.size === 0) return refs as Uint8Array[];
    const found = await statements.findRefs([...missing]).catch(throwTranslated);
    for (const [grantId, ref] of found) kept.set(grantId, ref);
    return grantIds.map((grantId, index) => refs[index] ?? found.get(grantId) ?? NOBODY);
  };
}

/** The recorded part of an access: no values, no tokens. */
function toAccessRecord(access: Access, userRef: Uint8Array, id: Uint8Array, at: number): AccessRecord {
  const { clientId, grantId, scope, endpoint, from, to, page, recordCount, requestId } = access;
  const recorded = { clientId, grantId, scope, endpoint, from, to, page, recordCount, requestId };
  return { id, at, userRef, ...recorded, refersTo: null, verdict: '' };
}
