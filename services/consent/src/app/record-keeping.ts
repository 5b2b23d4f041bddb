import { type CheckpointContent, hashCheckpoint, readCheckpointContent } from '@phds/record-chain/checkpoint';
import type { Clock } from '@phds/service-kit/clock';
import type { Signer } from './ports.ts';
import type { ChainState, CheckpointStore, CountsPlace, RecordPartitions } from './record-ports.ts';

/** Months that are prepared beside the present one. */
const MONTHS_AHEAD = 3;
const ATTEMPTS = 5;
const DAY_MS = 86_400_000;

/** What keeps records in order and provable, beside writing them. Several instances at once are harmless. */
export interface RecordKeeping {
  /** Prepares months ahead and drops those that policy no longer keeps, until the signal. Answers the names of the dropped. */
  movePartitions(signal: AbortSignal): Promise<string[]>;
  /** Deletes what was counted of dropped months, whoever dropped them, until the signal. */
  deleteCounts(signal: AbortSignal): Promise<void>;
  /** Signs where the chains stand; answers false when they stand where the last checkpoint has them. */
  takeCheckpoint(): Promise<boolean>;
}

export function createRecordKeeping(
  ports: {
    readonly partitions: RecordPartitions;
    readonly checkpoints: CheckpointStore;
    readonly signer: Signer;
    readonly clock: Clock;
  },
  /** 0 keeps records for ever. */
  policy: { readonly retentionDays: number },
): RecordKeeping {
  const { partitions, checkpoints, signer, clock } = ports;
  return {
    async movePartitions(signal) {
      await partitions.ensure(MONTHS_AHEAD);
      const dropped: string[] = [];
      while (policy.retentionDays !== 0 && !signal.aborted) {
        const month = await partitions.dropNext(policy.retentionDays);
        if (month === null) break;
        dropped.push(month);
      }
      return dropped;
    },
    async deleteCounts(signal) {
      let place: CountsPlace | null = null;
      do place = await partitions.deleteCounts(place);
      while (place !== null && !signal.aborted);
    },
    async takeCheckpoint() {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const now = clock.now();
        const content = findNext(await checkpoints.read(), findKeptBy(policy.retentionDays, now));
        if (content === null) return false;
        const jws = await signer.sign(content, now);
        // Another instance may have taken that number meanwhile.
        if (await checkpoints.add(content.number, jws)) return true;
      }
      return false;
    },
  };
}

/** Records from then on no policy may have dropped. */
function findKeptBy(retentionDays: number, now: Date): Date {
  return retentionDays === 0 ? new Date(0) : new Date(now.getTime() - retentionDays * DAY_MS);
}

/** null when there is nothing new to say. Never vouches for a drop that policy does not allow, whatever the database says. */
function findNext({ last, heads, keptFrom }: ChainState, keptBy: Date): CheckpointContent | null {
  const said = last === null ? null : readCheckpointContent(last.jws);
  const isAllowed = keptFrom !== null && keptFrom <= keptBy;
  const kept = isAllowed ? keptFrom.toISOString() : (said?.keptFrom ?? null);
  const isSame =
    kept === (said?.keptFrom ?? null) && heads.every((head) => said?.heads.some(isSameHead(head)));
  if (isSame) return null;
  return {
    number: (last?.number ?? 0) + 1,
    previous: last === null ? null : hashCheckpoint(last.jws),
    keptFrom: kept,
    heads,
  };
}

function isSameHead(one: CheckpointContent['heads'][number]) {
  return (other: CheckpointContent['heads'][number]) =>
    one.writer === other.writer && one.hash === other.hash;
}
