import { setMaxListeners } from 'node:events';
import { boundFetch } from '../load/wire.ts';

const ANSWER_LIMIT_MS = 15_000;

/** The arguments of a proof. */
export interface Proof {
  /** Disposed of at the end, also when the proof fails, takes too long or is interrupted. */
  readonly resources: AsyncDisposableStack;
  /** Aborted when the proof takes too long or is interrupted. */
  readonly signal: AbortSignal;
  /** Prints a line with the time since the start. */
  say(text: string): void;
}

/** Runs a proof that returns whether every promise was kept, prints the result and ends this process with 0 or 1. */
export async function runProof(limitMs: number, prove: (proof: Proof) => Promise<boolean>): Promise<never> {
  const startedAt = performance.now();
  const say = (text: string) => {
    console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${text}`);
  };
  boundFetch(ANSWER_LIMIT_MS, () => undefined);
  const end = new AbortController();
  setMaxListeners(0, end.signal);
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => end.abort(new Error(`interrupted by ${name}`)));
  }
  const limit = setTimeout(
    () => end.abort(new Error(`not finished after ${limitMs / 60_000} minutes`)),
    limitMs,
  );
  const { promise: ended, reject } = Promise.withResolvers<never>();
  end.signal.addEventListener('abort', () => reject(end.signal.reason));
  const resources = new AsyncDisposableStack();
  let isKept = false;
  try {
    isKept = await Promise.race([prove({ resources, signal: end.signal, say }), ended]);
    say(isKept ? 'every promise was kept' : 'a promise was BROKEN');
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
  }
  clearTimeout(limit);
  await resources.disposeAsync();
  process.exit(isKept ? 0 : 1);
}
