import type { Clock } from '@phds/service-kit/clock';
import type { CheckpointStore } from './access-ports.ts';
import { toNextCheckpoint } from './checkpoint-content.ts';

const ATTEMPTS = 5;
const DAY_MS = 86_400_000;

/** Signs the heads of the chains. Concurrent instances form one sequence. */
export interface Checkpoints {
  /** Like `take`, but once in an interval over all instances: the first instance signs for all. */
  takeDue(): Promise<boolean>;
  /** Signs now. Returns false when no chain has moved since the last checkpoint. */
  take(): Promise<boolean>;
}

export function createCheckpoints(dependencies: {
  readonly checkpoints: CheckpointStore;
  readonly signer: { sign(content: object, at: Date): Promise<string> };
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

  async function attempt(interval: number | null): Promise<Outcome> {
    const state = await checkpoints.read(interval);
    if (state === null) return 'nothing to sign';
    const now = clock.now();
    const content = toNextCheckpoint(state, findKeptBy(now));
    if (content === null) return 'nothing to sign';
    const jws = await signer.sign(content, now);
    if (!(await checkpoints.add(content.number, jws))) return 'taken';
    onSigned(jws);
    return 'signed';
  }

  return {
    takeDue: async () => (await attempt(intervalMs)) === 'signed',
    async take() {
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
