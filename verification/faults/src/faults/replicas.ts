import { eventually } from '@phds/test-kit/conditions';
import type { Tally } from '../load/tally.ts';
import type { Doubled } from '../second-replicas.ts';
import type { Fault, Site } from './fault.ts';

/** Longer than health-data waits for a batch and than a stream opens, shorter than the clients' limit. */
const FREEZE_MS = 9_000;
/** Of the requests for data. Half of them use the frozen replica if nobody avoids it. */
const MAX_FAILED = 0.05;
/** The metric by which a second replica shows that it is in use. */
const USED: Readonly<Record<Doubled, RegExp>> = {
  authorization: /^phds_rpc_server_duration_seconds_count\{[^}]*IssueToken"[^}]*\} [1-9]/m,
  consent: /^phds_access_batch_records_count [1-9]/m,
};

/** Requests that needed the service, and those that could not be answered. One with a dead token needs authorization only. */
function countReads(name: Doubled, { reads }: Tally): { readonly answered: number; readonly failed: number } {
  const sum = (...results: string[]) => results.reduce((total, each) => total + (reads[each] ?? 0), 0);
  const dead = name === 'authorization' ? sum('401') : 0;
  return { answered: dead + sum('200', '304', '404'), failed: sum('500', '502', '503', '504', 'none') };
}

async function freeze(name: Doubled, { stack, load, sleep, say, milliseconds }: Site): Promise<void> {
  const { process: replica, probeUrl } = stack.second[name];
  const isUsed = async () => USED[name].test(await (await fetch(`${probeUrl}/metrics`)).text());
  await eventually(isUsed, { timeoutMs: 30_000, intervalMs: 100 });
  say(`two replicas of ${name} are in use`);
  const freezeMs = Math.min(FREEZE_MS, milliseconds);
  const before = countReads(name, await load.look());
  process.kill(replica.pid ?? 0, 'SIGSTOP');
  try {
    await sleep(freezeMs);
  } finally {
    process.kill(replica.pid ?? 0, 'SIGCONT');
  }
  const after = countReads(name, await load.look());
  const failed = after.failed - before.failed;
  const all = after.answered - before.answered + failed;
  const found = `${failed} of ${all} requests for data failed while one replica was frozen for ${freezeMs / 1_000} s`;
  say(found);
  if (failed > MAX_FAILED * all) throw new Error(found);
}

function freezeOne(name: Doubled): Fault {
  return {
    name: `freeze-one-${name}`,
    what: `one of two replicas of ${name} stopped in its tracks (SIGSTOP): the other has to carry the load`,
    play: async (site) => {
      const { process: replica } = site.stack.second[name];
      await replica.start();
      try {
        await freeze(name, site);
      } finally {
        await replica.stop();
      }
    },
  };
}

export const REPLICA_FAULTS: readonly Fault[] = [freezeOne('consent'), freezeOne('authorization')];
