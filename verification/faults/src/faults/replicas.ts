import { eventually } from '@phds/test-kit/conditions';
import type { Tally } from '../load/tally.ts';
import type { Fault, Site } from './fault.ts';

/** Longer than health-data waits for a batch and than a stream opens, shorter than the clients' limit. */
const FREEZE_MS = 9_000;
/** Of the requests for data. Half of them use the frozen replica if nobody avoids it. */
const MAX_FAILED = 0.05;
const RECORDED = /^phds_access_batch_records_count [1-9]/m;

/** Requests with a token that is alive, and those that could not be answered. */
function countReads({ reads }: Tally): { readonly answered: number; readonly failed: number } {
  const sum = (...results: string[]) => results.reduce((total, each) => total + (reads[each] ?? 0), 0);
  return { answered: sum('200', '304', '404'), failed: sum('500', '502', '503', '504', 'none') };
}

async function freeze({ stack, load, sleep, say, milliseconds }: Site): Promise<void> {
  const { process: replica, probeUrl } = stack.secondConsent;
  const records = async () => RECORDED.test(await (await fetch(`${probeUrl}/metrics`)).text());
  await eventually(records, { timeoutMs: 30_000, intervalMs: 100 });
  say('two replicas of consent record accesses');
  const freezeMs = Math.min(FREEZE_MS, milliseconds);
  const before = countReads(await load.look());
  process.kill(replica.pid ?? 0, 'SIGSTOP');
  try {
    await sleep(freezeMs);
  } finally {
    process.kill(replica.pid ?? 0, 'SIGCONT');
  }
  const after = countReads(await load.look());
  const failed = after.failed - before.failed;
  const all = after.answered - before.answered + failed;
  const found = `${failed} of ${all} requests for data failed while one replica was frozen for ${freezeMs / 1_000} s`;
  say(found);
  if (failed > MAX_FAILED * all) throw new Error(found);
}

export const REPLICA_FAULTS: readonly Fault[] = [
  {
    name: 'freeze-one-consent',
    what: 'one of two replicas of consent stopped in its tracks (SIGSTOP): the other has to carry the load',
    play: async (site) => {
      const { process: replica } = site.stack.secondConsent;
      await replica.start();
      try {
        await freeze(site);
      } finally {
        await replica.stop();
      }
    },
  },
];
