import { type ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import type { Stack } from '@phds/local-stack/stack';
import type { LoadJob } from '../load.ts';
import { prepareLoad } from '../measure.ts';
import type { Options } from '../options.ts';
import { readFor, startReader } from '../steady-reader.ts';
import { prepareIssuer, toTokenJob } from '../token.ts';
import type { TokenJob } from '../token-job.ts';

const REFRESHING = 16;

/** Load on a stack, from processes of their own. Each returns the number of requests, and throws when one failed. */
export interface Work extends AsyncDisposable {
  /** As many newest pages as the connections can. */
  read(seconds: number): Promise<number>;
  /** Newest pages that arrive at this rate. */
  readAt(perSecond: number, seconds: number): Promise<number>;
  /** Refresh tokens for new ones. */
  refresh(): Promise<number>;
}

export async function openWork(stack: Stack, requestsFile: string, options: Options): Promise<Work> {
  const load = fork(join(import.meta.dirname, '../load.ts'));
  const refreshes = fork(join(import.meta.dirname, '../token-load.ts'));
  const reader = startReader();
  const issuer = await prepareIssuer(stack);
  const [url = ''] = stack.gatewayUrls;
  return {
    read: (seconds) => send(load, { url, connections: options.connections, seconds, requestsFile }),
    async readAt(perSecond, seconds) {
      const job = { gateways: stack.gatewayUrls, perSecond, seconds, requestsFile };
      const { latencies, failures } = await readFor(reader, job);
      if (Object.keys(failures).length > 0) throw new Error(`failed reads: ${JSON.stringify(failures)}`);
      return latencies.count;
    },
    refresh: async () =>
      send(refreshes, await toTokenJob(issuer, 'refresh', { ...options, connections: REFRESHING })),
    async [Symbol.asyncDispose]() {
      for (const child of [load, refreshes, reader]) child.disconnect();
    },
  };
}

async function send(program: ChildProcess, job: LoadJob | TokenJob): Promise<number> {
  const start = await prepareLoad(program, job);
  const { requests, failures } = await start();
  if (failures > 0) throw new Error(`${failures} requests failed`);
  return requests;
}
