import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { measureInTurn } from './measure.ts';
import type { Options } from './options.ts';
import { prepareStack } from './prepare-stack.ts';
import { report } from './report.ts';

/**
 * Measures the cost of the access record: the same endpoint with it, and with a stand-in for consent that releases everything
 * unrecorded.
 */
export async function benchRecord(options: Options): Promise<string> {
  await using recorded = await prepareStack('bench', options);
  const release = fork(join(import.meta.dirname, 'release-all.ts'));
  const [{ port }] = (await once(release, 'message')) as [{ port: number }];
  const environment = { 'health-data': { CONSENT_ADDRESS: `127.0.0.1:${port}` } };
  await using unrecorded = await prepareStack('bench-unrecorded', options, { environment });
  const processes = new Map([...unrecorded.side.processes, ['stand-in', release.pid ?? 0] as const]);
  const sides = { unrecorded: { ...unrecorded.side, processes }, recorded: recorded.side };
  const rounds = await measureInTurn(sides, options.rounds, console.log);
  release.disconnect();
  return report({ rounds, base: 'unrecorded', other: 'recorded' }, options);
}
