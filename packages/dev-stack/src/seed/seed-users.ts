import { IngestionService } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import { openRpcChannel } from '@phds/service-kit/rpc-client';
import type { ServiceTokenSource } from '@phds/service-kit/service-token';
import { ADA } from '@phds/synthetic/people/ada';
import { GRACE } from '@phds/synthetic/people/grace';
import { SPARSE } from '@phds/synthetic/people/people';
import { openTimeline } from '@phds/synthetic/timeline';
import { sendTimeline } from './send-timeline.ts';

const DEADLINE_MS = 30_000;

/**
 * Creates the synthetic users' data through the ingestion rpc: `ada` and `grace` with data of every kind, `sparse` with a little,
 * `empty` with none. Idempotent for the same `now`. Throws when anything is refused.
 */
export async function seedUsers(address: string, tokens: ServiceTokenSource, now: Date): Promise<void> {
  using channel = openRpcChannel({ address, audience: 'health-data', tokens, deadlineMs: DEADLINE_MS });
  const ingestion = channel.client(IngestionService);
  const until = now.getTime();
  await Promise.all(
    [ADA, GRACE, SPARSE].map((person) => sendTimeline(ingestion, person.id, openTimeline(person, { until }))),
  );
}
