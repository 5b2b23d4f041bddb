import { withinOrigins } from '@phds/service-kit/current-origin';
import { currentOrigin } from '@phds/service-kit/deadline';
import { AppError } from '@phds/service-kit/errors';
import type { Origin } from '@phds/service-kit/origin';
import type { Access, AccessRecorder, Verdict } from '../app/ports.ts';

export interface BatchingOptions {
  /** Maximum number of accesses in one call. */
  readonly maxBatch: number;
  /** Maximum number of accesses waiting for the current call; more are refused immediately. */
  readonly maxQueue: number;
  /** Maximum wait before a call, in milliseconds; the call has its own deadline. */
  readonly maxWaitMs: number;
  /** Monotonic clock in milliseconds. */
  readonly monotonicNow?: () => number;
}

/** Records a batch and returns one verdict for each access, in order; null for an unusable one. */
export type SendAccesses = (accesses: readonly Access[]) => Promise<readonly (Verdict | null)[]>;

interface Waiting {
  readonly access: Access;
  readonly origin: Origin | undefined;
  readonly since: number;
  readonly resolve: (verdict: Verdict) => void;
  readonly reject: (error: AppError) => void;
}

/**
 * Sends accesses that arrive during a call together in the next one. There is no timer: an idle recorder sends at the end of the turn,
 * with all reads of one batch that finished in it; a busy one sends larger batches. One call at a time performed better than two,
 * because it needs fewer commits for the same accesses. After a failed call the next one is sent as usual, so it recovers by itself.
 */
export function createBatchingAccessRecorder(send: SendAccesses, options: BatchingOptions): AccessRecorder {
  const { maxBatch, maxQueue, maxWaitMs, monotonicNow = () => performance.now() } = options;
  const queue: Waiting[] = [];
  let sending = false;
  return {
    record: (access) => {
      if (queue.length >= maxQueue) return Promise.reject(notRecorded(new Error('the queue is full')));
      const { promise, resolve, reject } = Promise.withResolvers<Verdict>();
      queue.push({ access, origin: currentOrigin(), since: monotonicNow(), resolve, reject });
      if (!sending) sendSoon();
      return promise;
    },
  };

  function sendSoon(): void {
    sending = true;
    setImmediate(() => void sendAll());
  }

  async function sendAll(): Promise<void> {
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
      const origins = batch.map(({ origin }) => origin);
      const sendAccesses = () => send(batch.map(({ access }) => access));
      const verdicts = await withinOrigins(origins, sendAccesses);
      // Verdicts that cannot be assigned release nothing.
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
