import type { RestoreGuard } from '@phds/service-kit/restore/guard';
import type { ConnectionPools } from './connection-pools.ts';
import { createPgAccessCounts } from './pg-access-counts.ts';
import { createPgAccessRecords } from './pg-access-records.ts';
import { createPgLiveness } from './pg-liveness.ts';
import { createPgSessionChecks } from './pg-session-checks.ts';
import { createPrismaAccessHistory } from './prisma-access-history.ts';
import { createPrismaAppUsage } from './prisma-app-usage.ts';
import { createPrismaApps } from './prisma-apps.ts';
import { createPrismaCheckpoints } from './prisma-checkpoints.ts';
import { createPrismaDataChanges } from './prisma-data-changes.ts';
import { createPrismaDecisions } from './prisma-decisions.ts';
import { createPrismaGrants } from './prisma-grants.ts';
import { createPrismaNoticeFeed } from './prisma-notice-feed.ts';
import { createPrismaNoticeScan } from './prisma-notice-scan.ts';
import { createPrismaPartitions } from './prisma-partitions.ts';
import { createPrismaPendingApprovals } from './prisma-pending-approvals.ts';
import { createPrismaPeople } from './prisma-people.ts';
import { createPrismaReceipts } from './prisma-receipts.ts';
import { createPrismaReports } from './prisma-reports.ts';
import { createPrismaRevocations } from './prisma-revocations.ts';
import { createPrismaSandboxGrants } from './prisma-sandbox-grants.ts';
import { createPrismaSessionEnds } from './prisma-session-ends.ts';
import { createPrismaSuspensions } from './prisma-suspensions.ts';
import { createPrismaWebhookCauses } from './prisma-webhook-causes.ts';
import { createPrismaWebhookEndpoints } from './prisma-webhook-endpoints.ts';
import { createPrismaWebhookQueue } from './prisma-webhook-queue.ts';

export interface StoreOptions {
  readonly guard: RestoreGuard;
  readonly clockToleranceMs: number;
}

export type Stores = ReturnType<typeof createStores>;

/** Every store, each on the pool whose work it shares. */
export function createStores(pools: ConnectionPools, { guard, clockToleranceMs }: StoreOptions) {
  const { ordinary, revocations, months, webhooks } = pools;
  const [access, checks] = [pools.access.pool, pools.checks.pool];
  return {
    accessRecords: createPgAccessRecords(access, { clockToleranceMs, guard }),
    counts: createPgAccessCounts(checks),
    liveness: createPgLiveness(checks, guard),
    sessionChecks: createPgSessionChecks(checks, guard),
    statuses: createPrismaApps(revocations),
    revocations: createPrismaRevocations(revocations),
    sessionEnds: createPrismaSessionEnds(revocations),
    withdrawals: createPrismaGrants(revocations),
    partitions: createPrismaPartitions(months),
    webhookQueue: createPrismaWebhookQueue(webhooks),
    webhookCauses: createPrismaWebhookCauses(webhooks),
    webhookEndpoints: createPrismaWebhookEndpoints(ordinary),
    dataChanges: createPrismaDataChanges(ordinary),
    apps: createPrismaApps(ordinary),
    pendingApprovals: createPrismaPendingApprovals(ordinary),
    decisions: createPrismaDecisions(ordinary, guard),
    grants: createPrismaGrants(ordinary),
    receipts: createPrismaReceipts(ordinary),
    people: createPrismaPeople(ordinary),
    history: createPrismaAccessHistory(ordinary),
    appUsage: createPrismaAppUsage(ordinary),
    reports: createPrismaReports(ordinary),
    noticeFeed: createPrismaNoticeFeed(ordinary),
    noticeScan: createPrismaNoticeScan(ordinary),
    checkpoints: createPrismaCheckpoints(ordinary),
    sandboxGrants: createPrismaSandboxGrants(ordinary),
    suspensions: createPrismaSuspensions(ordinary),
  };
}
