import { type ChainHead, hashCheckpoint, readCheckpointContent } from '@phds/record-chain/checkpoint';
import type { Clock } from '@phds/service-kit/clock';
import type { CheckpointStore, StoredCheckpoint } from './access-ports.ts';
import { addHeads, type CheckpointDrop, toNextCheckpoint } from './checkpoint-content.ts';
import type { Signer } from './ports.ts';

const ATTEMPTS = 5;
const DAY_MS = 86_400_000;

/** Signs the heads of the chains. Concurrent instances form one sequence. */
export interface Checkpoints {
  /** Like `take`, but once in an interval over all instances: the first instance signs for all. */
  takeDue(): Promise<boolean>;
  /** Signs now. Returns false when no chain has moved since the last checkpoint. */
  take(): Promise<boolean>;
  /** Drops the checkpoints from before the kept records, until aborted. */
  dropOld(signal: AbortSignal): Promise<void>;
}

export function createCheckpoints(dependencies: {
  readonly checkpoints: CheckpointStore;
  readonly signer: Signer;
  readonly clock: Clock;
  /** 0 keeps access records for ever. */
  readonly retentionDays: number;
  readonly intervalMs: number;
  /** Receives each checkpoint that this instance signed, after its commit. */
  readonly onSigned: (jws: string) => void;
}): Checkpoints {
  const { checkpoints, signer, clock, retentionDays, intervalMs, onSigned } = dependencies;
  /** Policy cannot have dropped records from this time on. */
  const findKeptBy = (now: Date) =>
    retentionDays === 0 ? new Date(0) : new Date(now.getTime() - retentionDays * DAY_MS);

  async function attempt(interval: number | null, drop: CheckpointDrop | null): Promise<Outcome> {
    const state = await checkpoints.read(interval);
    if (state === null) return 'nothing to sign';
    const now = clock.now();
    const content = toNextCheckpoint(state, findKeptBy(now), drop);
    if (content === null) return 'nothing to sign';
    const jws = await signer.sign(content, now);
    if (!(await checkpoints.add(content.number, jws))) return 'taken';
    onSigned(jws);
    return 'signed';
  }

  async function take(drop: CheckpointDrop | null = null): Promise<boolean> {
    for (let left = ATTEMPTS; left > 0; left -= 1) {
      const outcome = await attempt(null, drop);
      if (outcome !== 'taken') return outcome === 'signed';
    }
    return false;
  }

  return {
    takeDue: async () => (await attempt(intervalMs, null)) === 'signed',
    take: () => take(),
    async dropOld(signal) {
      const drop = await findDrop(checkpoints);
      if (drop !== null) await take(drop);
      // Reads the last checkpoint of any instance, so that an interrupted deletion is resumed.
      const { firstKept } = await findSaid(checkpoints);
      while (!signal.aborted && (await checkpoints.drop(firstKept)) > 0);
    },
  };
}

/** `taken`: another instance has signed this number in the meantime. */
type Outcome = 'signed' | 'taken' | 'nothing to sign';

async function findSaid(checkpoints: CheckpointStore) {
  const last = await checkpoints.findLast();
  const said = last === null ? null : readCheckpointContent(last.jws);
  return {
    number: last?.number ?? 0,
    firstKept: said?.firstKept ?? 1,
    keptFrom: said === null || said.keptFrom === null ? Number.NEGATIVE_INFINITY : Date.parse(said.keptFrom),
  };
}

/** What remains of the checkpoints signed before the kept records; null when there are none. */
async function findDrop(checkpoints: CheckpointStore): Promise<CheckpointDrop | null> {
  const { number: last, firstKept, keptFrom } = await findSaid(checkpoints);
  if (keptFrom === Number.NEGATIVE_INFINITY) return null;
  const heads = new Map<string, ChainHead>();
  for await (const { number, jws } of walk(checkpoints, firstKept)) {
    const content = readCheckpointContent(jws);
    const isOld = content.iat * 1000 < keptFrom && number !== last;
    if (isOld) addHeads(heads, content.heads);
    else if (number === firstKept) return null;
    else return { firstKept: number, heads: await findOpen(checkpoints, [...heads.values()]) };
  }
  return null;
}

/**
 * All checkpoints from this number on. Rejects when one does not continue the previous one, so that evidence of a manipulation is
 * kept.
 */
async function* walk(checkpoints: CheckpointStore, first: number): AsyncGenerator<StoredCheckpoint> {
  let expected = first;
  let previous: string | null = null;
  for (;;) {
    const page = await checkpoints.readFrom(expected);
    if (page.length === 0) return;
    for (const checkpoint of page) {
      const continues = previous === null || readCheckpointContent(checkpoint.jws).previous === previous;
      if (checkpoint.number !== expected || !continues)
        throw new Error(`checkpoint ${checkpoint.number} does not continue the one before: none is dropped`);
      yield checkpoint;
      expected += 1;
      previous = hashCheckpoint(checkpoint.jws);
    }
  }
}

/** The heads whose batches have not been dropped. */
async function findOpen(checkpoints: CheckpointStore, heads: readonly ChainHead[]): Promise<ChainHead[]> {
  const dropped = await checkpoints.findDropped();
  return heads.filter(({ writer, seq }) => seq > (dropped.get(writer) ?? -1));
}
