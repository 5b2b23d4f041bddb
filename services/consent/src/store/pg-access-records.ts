import { parseUuid } from '@phds/record-chain/uuid';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import { Unverified } from '@phds/service-kit/restore/verified-query';
import type pg from 'pg';
import type { AccessRecordBatch, AccessRecordStore } from '../app/access-ports.ts';
import { ClocksDiffer } from '../app/clock-difference.ts';
import type { Access, Judgement } from '../domain/access.ts';
import { byteaArray, int4Array, int8Array, textArray, uuidArray } from './binary-arrays.ts';

const FIND_REFS = readStatement(new URL('sql/find-refs.sql', import.meta.url));
const INSERT = readStatement(new URL('sql/insert-access-records.sql', import.meta.url));
const JUDGE = readStatement(new URL('sql/judge-accesses.sql', import.meta.url));

interface RecorderOptions {
  /** Maximum difference between the clocks of this process and the database. */
  readonly clockToleranceMs: number;
  readonly guard: Pick<RestoreGuard, 'remembered' | 'verified'>;
}

/**
 * The hot path of every data request, with statements prepared once for each connection. Each method is one statement and therefore
 * one transaction: what `insert` wrote is committed when it returns, and `judge` sees everything committed before it began.
 */
export function createPgAccessRecords(
  pool: pg.Pool,
  { clockToleranceMs, guard }: RecorderOptions,
): AccessRecordStore {
  return translatingErrors({
    async findRefs(grantIds) {
      const { rows } = await pool.query<[string, string]>({
        ...FIND_REFS,
        values: [grantIds],
        rowMode: 'array',
      });
      return new Map(rows.map(([grantId, userRef]) => [grantId, parseUuid(userRef)]));
    },
    async insert(batch) {
      const { rows } = await pool.query<[Date]>({
        ...INSERT,
        values: [...toInsertValues(batch), clockToleranceMs],
        rowMode: 'array',
      });
      const [differing] = rows;
      if (differing !== undefined) throw new ClocksDiffer(new Date(batch.at), differing[0]);
    },
    judge: (accesses, userRefs) => guard.verified(() => judge(pool, guard, accesses, userRefs)),
  });
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
