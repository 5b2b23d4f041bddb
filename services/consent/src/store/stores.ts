import type { HostWebhook } from '../webhooks/host-webhooks.ts';
import { createPgWebhookEndpoints } from '../webhooks/store/pg-endpoints.ts';
import { createPgDataChanges, createPgWebhookCauses } from '../webhooks/store/pg-events.ts';
import { createPgHostEndpoints, createPgOperatedWebhooks } from '../webhooks/store/pg-operated.ts';
import { createPgWebhookQueue } from '../webhooks/store/pg-queue.ts';
import type { ConnectionPools } from './connection-pools.ts';
import { createPgOperatorActs } from './pg-operator-acts.ts';

export type Stores = ReturnType<typeof createStores>;

/** Every store, each on the pool whose work it shares. */
export function createStores({ ordinary, webhooks }: ConnectionPools, hostWebhooks: readonly HostWebhook[]) {
  return {
    hostEndpoints: createPgHostEndpoints(webhooks, hostWebhooks),
    webhookQueue: createPgWebhookQueue(webhooks),
    webhookCauses: createPgWebhookCauses(webhooks),
    webhookEndpoints: createPgWebhookEndpoints(ordinary),
    operatedWebhooks: createPgOperatedWebhooks(ordinary),
    dataChanges: createPgDataChanges(ordinary),
    operatorActs: createPgOperatorActs(ordinary),
  };
}
