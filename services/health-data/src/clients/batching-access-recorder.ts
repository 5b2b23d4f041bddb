import { AppError } from '@phds/service-kit/errors';
import type { Access, AccessRecorder, Verdict } from '../app/ports.ts';

export interface BatchingOptions {
  /** Accesses in one call, at most. */
  readonly maxBatch: number;
  /** Accesses that wait for the call in flight; more are refused at once. */
  readonly maxQueue: number;
  /** Longest wait before a call, in milliseconds; the call itself has a deadline of its own. */
  readonly maxWaitMs: number;
  /** Milliseconds that only go forward. */
  readonly monotonicNow?: () => number;
}

/** Records a batch and answers one verdict for each access, in order; null is one that cannot be trusted. */
export type SendAccesses = (accesses: readonly Access[]) => Promise<readonly (Verdict | null)[]>;

interface Waiting {
  readonly access: Access;
  readonly since: number;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: AppError) => void;
}

/**
 * Lets accesses that arrive while a call is in flight travel together in the next one. No timer: an idle recorder sends
 * at once, a busy one sends larger batches. One call at a time measured better than two: fewer commits for the same
 * accesses. After a failed call the next goes out as usual, so it recovers by itself.
 */
export function createBatchingAccessRecorder(send: SendAccesses, options: BatchingOptions): AccessRecorder {
  const { maxBatch, maxQueue, maxWaitMs, monotonicNow = () => performance.now() } = options;
  const queue: Waiting[] = [];
  let sending = false;
  return {
    record: (access) => {
      if (queue.length >= maxQueue) return Promise.reject(notRecorded(new Error('the queue is full')));
      const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
      queue.push({ access, since: monotonicNow(), resolve, reject });
      if (!sending) void sendAll();
      return promise;
    },
  };

  async function sendAll(): Promise<void> {
    sending = true;
    while (queue.length > 0) {
      const batch = queue.splice(0, maxBatch).filter(isInTime);
      if (batch.length > 0) await sendBatch(batch);
    }
    sending = false;
  }

  function isInTime({ since, reject }: Waiting): boolean {
    const inTime = monotonicNow() - since <= maxWaitMs;
    if (!inTime) reject(notRecorded(new Error('waited too long')));
    return inTime;
  }

  async function sendBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const verdicts = await send(batch.map(({ access }) => access));
      // Verdicts that cannot be told apart release nothing.
      if (verdicts.length !== batch.length) throw new Error('wrong number of verdicts');
      for (const [index, { resolve, reject }] of batch.entries()) {
        const verdict = verdicts[index] ?? null;
        if (verdict === null) reject(notRecorded(new Error('unknown verdict')));
        else resolve(verdict);
      }
    } catch (cause) {
      for (const { reject } of batch) reject(notRecorded(cause));
    }
  }
}

function notRecorded(cause: unknown): AppError {
  return new AppError('access_not_recorded', 'The access could not be recorded.', {
    cause,
    retryAfterSeconds: 1,
  });
}
