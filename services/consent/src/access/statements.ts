import type { Message } from '@bufbuild/protobuf';
import type {
  Access as AccessMessage,
  Verdict as VerdictMessage,
} from '@phds/contracts/phds/consent/v1/access_pb';
import { type AccessRecord, type ChainedBatch, parseUuid } from '@phds/record-chain/chain';
import { AppError } from '@phds/service-kit/errors';
import { readStatement } from '@phds/service-kit/postgres/sql';
import { type RestoreGuard, Unverified } from '@phds/service-kit/restore/guard';
import type pg from 'pg';
import { byteaArray, int4Array, int8Array, textArray, uuidArray } from './binary-arrays.ts';

/** A response about to be released, with the data for its judgement. */
export type Access = Omit<AccessMessage, keyof Message>;

/** The result of the judgement after recording; all except `released` are refusals. */
export type Verdict = Lowercase<Exclude<keyof typeof VerdictMessage, 'UNSPECIFIED'>>;

/** A verdict, or that the record lacks the reference of its grant, in which case nothing may be released. */
export type Judgement = Verdict | 'reference_differs';

/** The hot path of every data request. Recording and judging are separate steps on purpose. */
export type AccessStatements = ReturnType<typeof createAccessStatements>;

const FIND_REFS = readStatement(new URL('../store/sql/find-refs.sql', import.meta.url));
const INSERT = readStatement(new URL('../store/sql/insert-access-records.sql', import.meta.url));
const JUDGE = readStatement(new URL('../store/sql/judge-accesses.sql', import.meta.url));

/** Thrown when nothing was recorded because the clocks of this process and the database differ by more than allowed: somebody has to act. */
function clocksDiffer(batch: AccessRecordBatch, databaseClock: Date): AppError {
  const processClock = new Date(batch.at).toISOString();
  const cause = new Error(
    `the clock of this process shows ${processClock}, that of the database ${databaseClock.toISOString()}: more than ACCESS_CLOCK_TOLERANCE_MS apart`,
  );
  return new AppError('internal', '', { cause });
}

/** A batch of a writer's chain with its access records, in order. */
export interface AccessRecordBatch extends ChainedBatch {
  readonly accessRecords: readonly AccessRecord[];
}

interface Options {
  /** Maximum difference between the clocks of this process and the database. */
  readonly clockToleranceMs: number;
  readonly guard: Pick<RestoreGuard, 'remembered' | 'verified'>;
}

/**
 * The hot path of every data request, with statements prepared once for each connection. Each method is one statement and therefore
 * one transaction: what `insert` wrote is committed when it returns, and `judge` sees everything committed before it began.
 */
export function createAccessStatements(pool: pg.Pool, { clockToleranceMs, guard }: Options) {
  return {
    /**
     * The references by which the records of each grant identify its person, fixed when the grant is created. Unknown grants are
     * omitted.
     */
    async findRefs(grantIds: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
      const { rows } = await pool.query<[string, string]>({
        ...FIND_REFS,
        values: [grantIds],
        rowMode: 'array',
      });
      return new Map(rows.map(([grantId, userRef]) => [grantId, parseUuid(userRef)]));
    },
    /** Durable and committed when it returns; all or nothing. */
    async insert(batch: AccessRecordBatch): Promise<void> {
      const { rows } = await pool.query<[Date]>({
        ...INSERT,
        values: [...toInsertValues(batch), clockToleranceMs],
        rowMode: 'array',
      });
      const [differing] = rows;
      if (differing !== undefined) throw clocksDiffer(batch, differing[0]);
    },
    /** Judges in a snapshot taken after the call began. Returns one judgement each, in order. References are those of the records. */
    judge: (accesses: readonly Access[], userRefs: readonly Uint8Array[]): Promise<Judgement[]> =>
      guard.verified(() => judge(pool, guard, accesses, userRefs)),
  };
}

async function judge(
  pool: pg.Pool,
  { remembered }: Pick<RestoreGuard, 'remembered'>,
  accesses: readonly Access[],
  userRefs: readonly Uint8Array[],
): Promise<Judgement[]> {
  const { rows } = await pool.query<[Judgement | 'unverified']>({
    ...JUDGE,
    values: [...toJudgeColumns(accesses, userRefs), ...remembered],
    rowMode: 'array',
  });
  return rows.map(([judgement]) => {
    if (judgement === 'unverified') throw new Unverified();
    return judgement;
  });
}

function toInsertValues({ accessRecords, ...batch }: AccessRecordBatch): unknown[] {
  return [
    batch.writer,
    batch.seq,
    new Date(batch.at),
    batch.recordCount,
    batch.digests,
    batch.previousHash,
    batch.hash,
    uuidArray(accessRecords, (accessRecord) => accessRecord.id),
    uuidArray(accessRecords, (accessRecord) => accessRecord.userRef),
    textArray(accessRecords, (accessRecord) => accessRecord.clientId),
    textArray(accessRecords, (accessRecord) => accessRecord.grantId),
    textArray(accessRecords, (accessRecord) => accessRecord.scope),
    textArray(accessRecords, (accessRecord) => accessRecord.endpoint),
    textArray(accessRecords, (accessRecord) => accessRecord.from),
    textArray(accessRecords, (accessRecord) => accessRecord.to),
    int4Array(accessRecords, (accessRecord) => accessRecord.page),
    int4Array(accessRecords, (accessRecord) => accessRecord.recordCount),
    textArray(accessRecords, (accessRecord) => accessRecord.requestId),
    uuidArray(accessRecords, (accessRecord) => accessRecord.refersTo),
    textArray(accessRecords, (accessRecord) => accessRecord.verdict || null),
  ];
}

function toJudgeColumns(accesses: readonly Access[], userRefs: readonly Uint8Array[]): Buffer[] {
  return [
    textArray(accesses, (access) => access.clientId),
    textArray(accesses, (access) => access.userId),
    textArray(accesses, (access) => access.grantId),
    textArray(accesses, (access) => access.familyId),
    byteaArray(accesses, (access) => access.tokenHash),
    int8Array(accesses, (access) => access.tokenExpiresAt),
    textArray(accesses, (access) => access.scope),
    textArray(accesses, (access) => access.dataFrom),
    uuidArray(userRefs, (ref) => ref),
  ];
}
