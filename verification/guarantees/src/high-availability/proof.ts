import type { Command } from 'commander';
import { runProof } from '../command.ts';
import { boundFetch } from '../load/wire.ts';
import { Cluster } from './cluster.ts';
import { Programs } from './programs.ts';

const ANSWER_LIMIT_MS = 15_000;

/** The arguments of a proof. */
export interface Proof {
  readonly cluster: Cluster;
  /** Disposed of at the end, also when the proof fails, takes too long or is interrupted. */
  readonly resources: AsyncDisposableStack;
  /** Aborted when the proof takes too long or is interrupted. */
  readonly signal: AbortSignal;
  /** Prints a line with the time since the start. */
  say(text: string): void;
}

/** Runs a proof on a cluster of databases, at most for this time, and prints the result. */
export function proveOnCluster(
  command: Command,
  limitMs: number,
  prove: (proof: Proof) => Promise<boolean>,
): Promise<never> {
  return runProof(command, async (interrupt) => {
    const startedAt = performance.now();
    const say = (text: string) => {
      console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(6)} s  ${text}`);
    };
    boundFetch(ANSWER_LIMIT_MS, () => undefined);
    const signal = AbortSignal.any([interrupt, AbortSignal.timeout(limitMs)]);
    const { promise: ended, reject } = Promise.withResolvers<never>();
    signal.addEventListener('abort', () => reject(signal.reason));
    await using resources = new AsyncDisposableStack();
    const work = async () => {
      const cluster = await Cluster.start(await Programs.find(), resources);
      say('three database nodes are running');
      return prove({ cluster, resources, signal, say });
    };
    const isKept = await Promise.race([work(), ended]);
    say(isKept ? 'every promise was kept' : 'a promise was BROKEN');
    return isKept;
  });
}
