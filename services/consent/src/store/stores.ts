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
import { createPgApps } from './pg-apps.ts';
import { createPgCheckpoints } from './pg-checkpoints.ts';
import { createPgDecisions } from './pg-decisions.ts';
import { createPgGrants } from './pg-grants.ts';
import { createPgLiveness } from './pg-liveness.ts';
import { createPgOperatorActs } from './pg-operator-acts.ts';
import { createPgPartitions } from './pg-partitions.ts';
import { createPgPendingApprovals } from './pg-pending-approvals.ts';
import { createPgPeople } from './pg-people.ts';
import { createPgReceipts } from './pg-receipts.ts';
import { createPgRevocations } from './pg-revocations.ts';
import { createPgSandboxGrants } from './pg-sandbox-grants.ts';
import { createPgSessionChecks } from './pg-session-checks.ts';
import { createPgSessionEnds } from './pg-session-ends.ts';
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
  const { access, checks, ordinary, revocations, webhooks, months } = pools;
  return {
    accessRecords: createPgAccessRecords(access, { clockToleranceMs, guard }),
    counts: createPgAccessCounts(checks),
    liveness: createPgLiveness(checks, guard),
    sessionChecks: createPgSessionChecks(checks, guard),
    statuses: createPgApps(revocations),
    revocations: createPgRevocations(revocations),
    sessionEnds: createPgSessionEnds(revocations),
    withdrawals: createPgGrants(revocations),
    partitions: createPgPartitions(months),
    hostEndpoints: createPgHostEndpoints(webhooks, hostWebhooks),
    webhookQueue: createPgWebhookQueue(webhooks),
    webhookCauses: createPgWebhookCauses(webhooks),
    webhookEndpoints: createPgWebhookEndpoints(ordinary),
    operatedWebhooks: createPgOperatedWebhooks(ordinary),
    dataChanges: createPgDataChanges(ordinary),
    apps: createPgApps(ordinary),
    pendingApprovals: createPgPendingApprovals(ordinary),
    decisions: createPgDecisions(ordinary, guard),
    grants: createPgGrants(ordinary),
    receipts: createPgReceipts(ordinary),
    people: createPgPeople(ordinary),
    history: createPgAccessHistory(ordinary),
    appUsage: createPgAppUsage(ordinary),
    historyTurns: createTurns({ ...HISTORIES, atOnce: toHalf(ordinary) }),
    operatorActs: createPgOperatorActs(ordinary),
    checkpoints: createPgCheckpoints(ordinary),
    sandboxGrants: createPgSandboxGrants(ordinary),
    suspensions: createPgSuspensions(ordinary),
  };
}
