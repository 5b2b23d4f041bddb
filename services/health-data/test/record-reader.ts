import type { Client } from '@connectrpc/connect';
import type { HealthDataService } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { bodyOf, type Harness } from './harness.ts';

type Rpcs = Client<typeof HealthDataService>;

/** The reads that take nothing but the shared parameters. */
type PlainRpc = Exclude<keyof Rpcs, 'listAdherence' | 'listReadings' | 'listTrends'>;

/** Reads one resource about a user and answers the body. */
export async function read(
  harness: Harness,
  rpc: PlainRpc,
  userId: string,
  query: object = {},
  dataFrom: string | null = null,
) {
  return bodyOf(await harness.reads[rpc]({ query }, await harness.about(userId, { dataFrom })));
}
