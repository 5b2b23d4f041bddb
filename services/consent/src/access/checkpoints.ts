import {
  type ChainHead,
  type CheckpointContent,
  hashCheckpoint,
  readCheckpointContent,
} from '@phds/record-chain/checkpoint';
import { OPERATORS } from '@phds/record-chain/operator-act';
import type { Clock } from '@phds/service-kit/clock';
import { queryRows, readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { Signer } from '../jose-signer.ts';

const FIND_LAST = readStatement(new URL('../store/sql/find-last-checkpoint.sql', import.meta.url));
const FIND_KEPT_FROM = readStatement(new URL('../store/sql/find-kept-from.sql', import.meta.url));
const LIST_HEADS = readStatement(new URL('../store/sql/list-chain-heads.sql', import.meta.url));
const INSERT = readStatement(new URL('../store/sql/insert-checkpoint.sql', import.meta.url));

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
      const [last = null] = await queryRows<LastRow>(pool, FIND_LAST, intervalMs);
      if (last?.isTaken === true) return null;
      const [dropped] = await queryRows<{ keptFrom: Date | null }>(pool, FIND_KEPT_FROM);
      const heads = await selectHeads(pool, last?.at ?? null);
      return { last, heads, keptFrom: dropped?.keptFrom ?? null };
    },
    /** Returns false when the number is already taken. */
    async add(number: number, jws: string): Promise<boolean> {
      return (await runStatement(pool, INSERT, number, jws)) === 1;
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

async function selectHeads(pool: pg.Pool, lastAt: Date | null): Promise<ChainHead[]> {
  const rows = await queryRows<HeadRow>(pool, LIST_HEADS, lastAt, OPERATORS);
  return rows.map(({ writer, seq, hash }) => ({
    writer,
    seq: Number(seq),
    hash: Buffer.from(hash).toString('base64url'),
  }));
}
