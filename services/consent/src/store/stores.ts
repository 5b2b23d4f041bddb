import { createTurns } from '@phds/service-kit/batcher';
import { toHalf } from '@phds/service-kit/postgres/postgres';
import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type { HostWebhook } from '../webhooks/host-webhooks.ts';
import { createPgWebhookEndpoints } from '../webhooks/store/pg-endpoints.ts';
import { createPgDataChanges, createPgWebhookCauses } from '../webhooks/store/pg-events.ts';
import { createPgHostEndpoints, createPgOperatedWebhooks } from '../webhooks/store/pg-operated.ts';
import { createPgWebhookQueue } from '../webhooks/store/pg-queue.ts';
import type { ConnectionPools } from './connection-pools.ts';
import { createPgAccessCounts } from './pg-access-counts.ts';
import { createPgAccessHistory } from './pg-access-history.ts';
import { createPgAccessRecords } from './pg-access-records.ts';
import { createPgAppUsage } from './pg-app-usage.ts';
import { createPgCheckpoints } from './pg-checkpoints.ts';
import { createPgOperatorActs } from './pg-operator-acts.ts';
import { createPgPartitions } from './pg-partitions.ts';
import { createPgSuspensions } from './pg-suspensions.ts';

export interface StoreOptions {
  readonly guard: RestoreGuard;
  readonly clockToleranceMs: number;
  readonly hostWebhooks: readonly HostWebhook[];
}

/** Two at once for one person. */
const HISTORIES = { perKey: 2, maxQueued: 100, maxWaitMs: 2_000 };

export type Stores = ReturnType<typeof createStores>;

/** Every store, each on the pool whose work it shares. */
export function createStores(
  pools: ConnectionPools,
  { guard, clockToleranceMs, hostWebhooks }: StoreOptions,
) {
  const { access, checks, ordinary, webhooks, months } = pools;
  return {
    accessRecords: createPgAccessRecords(access, { clockToleranceMs, guard }),
    counts: createPgAccessCounts(checks),
    partitions: createPgPartitions(months),
    hostEndpoints: createPgHostEndpoints(webhooks, hostWebhooks),
    webhookQueue: createPgWebhookQueue(webhooks),
    webhookCauses: createPgWebhookCauses(webhooks),
    webhookEndpoints: createPgWebhookEndpoints(ordinary),
    operatedWebhooks: createPgOperatedWebhooks(ordinary),
    dataChanges: createPgDataChanges(ordinary),
    history: createPgAccessHistory(ordinary),
    appUsage: createPgAppUsage(ordinary),
    historyTurns: createTurns({ ...HISTORIES, atOnce: toHalf(ordinary) }),
    operatorActs: createPgOperatorActs(ordinary),
    checkpoints: createPgCheckpoints(ordinary),
    suspensions: createPgSuspensions(ordinary),
  };
}
