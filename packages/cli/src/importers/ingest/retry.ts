import { setTimeout as sleepFor } from 'node:timers/promises';
import { AppError } from '@phds/service-kit/errors';

/** Resolves after this many milliseconds. */
export type Sleep = (milliseconds: number) => Promise<unknown>;

const MAX_ATTEMPTS = 8;
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 5_000;

/**
 * Retries while the service is unavailable, up to 8 times over about 15 seconds, which covers a restart. For idempotent calls only.
 * Rejects with the last error, and immediately with any other error.
 */
export async function retryWhenUnavailable<Result>(
  call: () => Promise<Result>,
  sleep: Sleep = sleepFor,
): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const isAway = error instanceof AppError && error.reason === 'unavailable';
      if (!isAway || attempt === MAX_ATTEMPTS) throw error;
      await sleep(Math.min(FIRST_WAIT_MS * 2 ** (attempt - 1), LONGEST_WAIT_MS));
    }
  }
}
