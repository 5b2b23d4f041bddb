import { setTimeout as delay } from 'node:timers/promises';

interface EventuallyOptions {
  /** Time limit for the condition. Default 60,000: only a failing test waits that long, and a slow machine may need it. */
  readonly timeoutMs?: number;
  /** Pause between two attempts. Default 10. */
  readonly intervalMs?: number;
}

/**
 * Waits until `condition` neither throws nor returns `false`, and returns its result. The condition may contain assertions. On
 * timeout, throws the last error or reports that the condition stayed false.
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  { timeoutMs = 60_000, intervalMs = 10 }: EventuallyOptions = {},
): Promise<Exclude<T, false>> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const outcome = await attempt(condition);
    if (outcome.met) return outcome.value;
    if (performance.now() > deadline) {
      throw outcome.error ?? new Error(`the condition was still false after ${timeoutMs} ms`);
    }
    await delay(intervalMs);
  }
}

type Outcome<T> = { met: true; value: Exclude<T, false> } | { met: false; error?: unknown };

async function attempt<T>(condition: () => T | Promise<T>): Promise<Outcome<T>> {
  try {
    const value = await condition();
    return value === false ? { met: false } : { met: true, value: value as Exclude<T, false> };
  } catch (error) {
    return { met: false, error };
  }
}
