import { IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { Stack } from '@phds/local-stack/stack';
import { openRpcChannel } from '@phds/service-kit/rpc/client';
import type { LoadJob } from '../load-job.ts';
import { type LoadProcess, startLoad } from '../measure.ts';
import type { Options } from '../options.ts';
import { userName } from '../prepare-stack.ts';
import { prepareIssuer, toTokenJob } from '../token.ts';

const REFRESHING = 16;

/** Load on a stack, from a process of its own. Each returns the number of requests, and throws when one failed. */
export interface Work extends Disposable {
  /** As many newest pages as the connections can. */
  read(seconds: number): Promise<number>;
  /** Newest pages that arrive at this rate. */
  readAt(perSecond: number, seconds: number): Promise<number>;
  /** Refresh tokens for new ones. */
  refresh(): Promise<number>;
}

export async function openWork(stack: Stack, requestsFile: string, options: Options): Promise<Work> {
  const load = startLoad();
  const issuer = await prepareIssuer(stack);
  const [url = ''] = stack.gatewayUrls;
  return {
    read: (seconds) => send(load, { url, connections: options.connections, seconds, requestsFile }),
    readAt: (perSecond, seconds) =>
      send(load, { gateways: stack.gatewayUrls, perSecond, seconds, requestsFile }),
    refresh: async () =>
      send(load, await toTokenJob(issuer, 'refresh', { ...options, connections: REFRESHING })),
    [Symbol.dispose]: () => load[Symbol.dispose](),
  };
}

async function send(load: LoadProcess, job: LoadJob): Promise<number> {
  const { requests, failures } = await load.run(job);
  if (failures > 0) throw new Error(`${failures} requests failed`);
  return requests;
}

/** About half a day of a watch that measures every seven minutes. */
export const READINGS_PER_CALL = 100;
const INTERVAL_MS = 7 * 60_000;
const PARALLEL = 4;

/** Stores readings of the people with these numbers as importers do, in the order of time; returns how many. With an offset, others. */
export async function ingest(
  stack: Stack,
  first: number,
  last: number,
  readings: number,
  offsetMs = 0,
): Promise<number> {
  const tokens = await stack.serviceTokens('importer');
  const address = stack.rpcAddresses['health-data'];
  using channel = openRpcChannel({ address, audience: 'health-data', tokens, deadlineMs: 30_000 });
  const ingestion = channel.client(IngestionService);
  const begin = Math.floor(Date.now() / 3_600_000) * 3_600_000 - readings * INTERVAL_MS + offsetMs;
  let next = first;
  const worker = async () => {
    for (let person = next; person <= last; person = next) {
      next += 1;
      for (let sent = 0; sent < readings; sent += READINGS_PER_CALL) {
        const batch = Array.from({ length: Math.min(READINGS_PER_CALL, readings - sent) }, (_, n) =>
          toReading(begin, sent + n),
        );
        const { result } = await ingestion.putReadings({ userId: userName(person), readings: batch });
        if (result?.refusals.length !== 0) throw new Error('readings were refused');
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return (last - first + 1) * readings;
}

function toReading(begin: number, n: number) {
  const type = n % 5 === 0 ? 'HRV' : 'Heart Rate';
  return {
    type,
    start: { seconds: BigInt((begin + n * INTERVAL_MS) / 1000), nanos: 0 },
    value: 50 + (n % 90),
    source: 'apple-watch',
  };
}
