import {
  type ChainHead,
  type CheckpointContent,
  hashCheckpoint,
  readCheckpointContent,
} from '@phds/record-chain/checkpoint';
import { OPERATORS } from '@phds/record-chain/operator-act';
import type { Clock } from '@phds/service-kit/clock';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { Signer } from '../jose-signer.ts';

const ATTEMPTS = 5;
const DAY_MS = 86_400_000;

/** The chains at the time of a checkpoint. */
interface ChainState {
  readonly last: { readonly number: number; readonly jws: string } | null;
  /** Heads of all chains written to since a day before the last checkpoint. */
  readonly heads: readonly ChainHead[];
  /** Start of the kept records; null when none were dropped. */
  readonly keptFrom: Date | null;
}

export type Checkpoints = ReturnType<typeof createCheckpoints>;

/** Signs the heads of the chains. Concurrent instances form one sequence. */
export function createCheckpoints(parts: {
  readonly table: CheckpointTable;
  readonly signer: Signer;
  readonly clock: Clock;
  /** 0 keeps access records for ever. */
  readonly retentionDays: number;
  readonly intervalMs: number;
  /** Receives each checkpoint that this instance signed, after its commit. */
  readonly onSigned: (jws: string) => void;
}) {
  const { table, signer, clock, retentionDays, intervalMs, onSigned } = parts;
  /** Policy cannot have dropped records from this time on. */
  const findKeptBy = (now: Date) =>
    retentionDays === 0 ? new Date(0) : new Date(now.getTime() - retentionDays * DAY_MS);

  async function attempt(interval: number | null): Promise<Outcome> {
    const state = await table.read(interval);
    if (state === null) return 'nothing to sign';
    const now = clock.now();
    const content = toNextCheckpoint(state, findKeptBy(now));
    if (content === null) return 'nothing to sign';
    const jws = await signer.sign(content, now);
    if (!(await table.add(content.number, jws))) return 'taken';
    onSigned(jws);
    return 'signed';
  }

  return {
    /** Like `take`, but once in an interval over all instances: the first instance signs for all. */
    takeDue: async () => (await attempt(intervalMs)) === 'signed',
    /** Signs now. Returns false when no chain has moved since the last checkpoint. */
    async take(): Promise<boolean> {
      for (let left = ATTEMPTS; left > 0; left -= 1) {
        const outcome = await attempt(null);
        if (outcome !== 'taken') return outcome === 'signed';
      }
      return false;
    },
  };
}

/** `taken`: another instance has signed this number in the meantime. */
type Outcome = 'signed' | 'taken' | 'nothing to sign';

/**
 * The next checkpoint; null when nothing has changed. It never confirms a drop of records that policy does not allow, whatever the
 * database contains: kept records begin at `keptBy` at the latest.
 */
function toNextCheckpoint({ last, heads, keptFrom }: ChainState, keptBy: Date): CheckpointContent | null {
  const said = last === null ? null : readCheckpointContent(last.jws);
  const saidFrom = said?.keptFrom ?? null;
  const kept = keptFrom !== null && keptFrom <= keptBy ? keptFrom.toISOString() : saidFrom;
  const signed = new Map(said?.heads.map(({ writer, seq }) => [writer, seq]));
  const hasMoved = ({ writer, seq }: ChainHead) => seq > (signed.get(writer) ?? -1);
  if (!heads.some(hasMoved) && kept === saidFrom) return null;
  return {
    number: (last?.number ?? 0) + 1,
    previous: last === null ? null : hashCheckpoint(last.jws),
    keptFrom: kept,
    heads,
  };
}

interface HeadRow {
  readonly writer: string;
  readonly seq: string;
  readonly hash: Uint8Array;
}

export type CheckpointTable = ReturnType<typeof createCheckpointTable>;

/** Checkpoints in the schema where the service can only insert. */
export function createCheckpointTable(pool: pg.Pool) {
  return {
    /** Null when the current interval, by the database's clock, already has a checkpoint. With a null interval it never has one. */
    async read(intervalMs: number | null): Promise<ChainState | null> {
      const last = await selectLast(pool, intervalMs);
      if (last?.isTaken === true) return null;
      const [dropped] = await select<{ keptFrom: Date | null }>(pool)`
        SELECT max(kept_from) AS "keptFrom" FROM consent_audit.access_dropped`;
      const heads = await selectHeads(pool, last?.at ?? null);
      return { last, heads, keptFrom: dropped?.keptFrom ?? null };
    },
    /** Returns false when the number is already taken. */
    async add(number: number, jws: string): Promise<boolean> {
      const added = await execute(pool)`
        INSERT INTO consent_audit.access_checkpoint (number, jws) VALUES (${number}, ${jws}) ON CONFLICT DO NOTHING`;
      return added === 1;
    },
  };
}

interface LastRow {
  readonly number: number;
  readonly jws: string;
  readonly at: Date;
  /** Whether the current interval of the database's clock has one. */
  readonly isTaken: boolean;
}

async function selectLast(pool: pg.Pool, intervalMs: number | null): Promise<LastRow | null> {
  const [last] = await select<LastRow>(pool)`
    SELECT number, jws, at, coalesce(floor(extract(epoch FROM at) * 1000 / ${intervalMs}::numeric)
      = floor(extract(epoch FROM statement_timestamp()) * 1000 / ${intervalMs}::numeric), false) AS "isTaken"
    FROM consent_audit.access_checkpoint ORDER BY number DESC LIMIT 1`;
  return last ?? null;
}

/**
 * The heads of chains, also the operators', with batches since a day before the last checkpoint (the largest ACCESS_CLOCK_TOLERANCE_MS); others are in older
 * checkpoints. Jumps from writer to writer in the indexes of whole months, whatever the number of batches.
 */
async function selectHeads(pool: pg.Pool, lastAt: Date | null): Promise<ChainHead[]> {
  const rows = await select<HeadRow>(pool)`
    WITH RECURSIVE since AS MATERIALIZED (
      SELECT coalesce(date_trunc('month', ${lastAt}::timestamptz) - interval '1 month', '-infinity') AS at
    ), chain AS (
      (SELECT writer FROM access_batch WHERE at >= (SELECT at FROM since) ORDER BY writer LIMIT 1)
      UNION ALL
      SELECT (SELECT b.writer FROM access_batch b WHERE b.at >= (SELECT at FROM since) AND b.writer > chain.writer
        ORDER BY b.writer LIMIT 1)
      FROM chain WHERE chain.writer IS NOT NULL
    )
    SELECT head.writer::text AS writer, head.seq, head.hash
    FROM chain CROSS JOIN LATERAL (
      SELECT writer, seq, at, hash FROM access_batch b
      WHERE b.writer = chain.writer AND b.at >= (SELECT at FROM since) ORDER BY b.seq DESC LIMIT 1) head
    WHERE head.at >= coalesce(${lastAt}::timestamptz - interval '1 day', '-infinity')
    UNION ALL
    SELECT ${OPERATORS}, act.number - 1, act.hash
    FROM (SELECT number, at, hash FROM consent_audit.operator_act ORDER BY number DESC LIMIT 1) act
    WHERE act.at >= coalesce(${lastAt}::timestamptz - interval '1 day', '-infinity')
    ORDER BY writer`;
  return rows.map(({ writer, seq, hash }) => ({
    writer,
    seq: Number(seq),
    hash: Buffer.from(hash).toString('base64url'),
  }));
}
