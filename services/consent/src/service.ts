import { CHECKPOINT_TYPE } from '@phds/record-chain/checkpoint';
import { acknowledging } from '@phds/service-kit/acknowledged-changes';
import { type Clock, systemClock } from '@phds/service-kit/clock';
import { createLogger, type Logger } from '@phds/service-kit/log';
import { startPeriodic } from '@phds/service-kit/periodic';
import type { Postgres } from '@phds/service-kit/postgres';
import { startPruning } from '@phds/service-kit/pruning';
import { openRedis } from '@phds/service-kit/redis';
import { createRestoreService } from '@phds/service-kit/restore-service';
import { type RpcServer, startRpcServer } from '@phds/service-kit/rpc-server';
import { toTlsFiles } from '@phds/service-kit/rpc-tls';
import { createServiceTokenVerifier } from '@phds/service-kit/service-token';
import { type AccessWriter, createAccessWriter } from './app/access-writer.ts';
import { createAccesses } from './app/accesses.ts';
import { createCheckpoints } from './app/checkpoints.ts';
import { loggingClockDifference } from './app/clock-difference.ts';
import { countAll } from './app/counting.ts';
import { createApprovalScreen } from './app/decisions.ts';
import { createErasures } from './app/erasures.ts';
import { createGrantDesk } from './app/grants.ts';
import { createLedger } from './app/ledger.ts';
import { createApprovalInbox } from './app/pending-approvals.ts';
import type { EvictionPublisher } from './app/ports.ts';
import { createReceipts } from './app/receipts.ts';
import { createRecordKeeping } from './app/record-keeping.ts';
import type { AccessRecorder } from './app/record-ports.ts';
import { createJoseSigner, RECEIPT_TYPE } from './clients/jose-signer.ts';
import type { Config } from './config.ts';
import { createRedisEvictions, noEvictions } from './events/redis-evictions.ts';
import { accessService, LARGEST_BATCH } from './rpc/access-service.ts';
import { consentService } from './rpc/consent-service.ts';
import { ledgerService } from './rpc/ledger-service.ts';
import { openSessions, type UserOf } from './rpc/user.ts';
import { openConnectionPools } from './store/connection-pools.ts';
import type { PrismaClient } from './store/generated/client.ts';
import { createPgAccessCounter } from './store/pg-access-counter.ts';
import { createPgAccessRecorder } from './store/pg-access-recorder.ts';
import { createPgLiveness } from './store/pg-liveness.ts';
import { createPrismaAccessHistory } from './store/prisma-access-history.ts';
import { createPrismaAppUsage } from './store/prisma-app-usage.ts';
import { createPrismaApps } from './store/prisma-apps.ts';
import { createPrismaCheckpoints } from './store/prisma-checkpoints.ts';
import { createPrismaCredentials } from './store/prisma-credentials.ts';
import { createPrismaDecisions } from './store/prisma-decisions.ts';
import { createPrismaGrants } from './store/prisma-grants.ts';
import { createPrismaPendingApprovals } from './store/prisma-pending-approvals.ts';
import { createPrismaPeople } from './store/prisma-people.ts';
import { createPrismaPruner } from './store/prisma-pruner.ts';
import { createPrismaReceipts } from './store/prisma-receipts.ts';
import { createPrismaRecordPartitions } from './store/prisma-record-partitions.ts';
import { createPrismaSuspensions } from './store/prisma-suspensions.ts';
import { openRestoreGuard } from './store/restore-guard.ts';

/** Grants whose references are kept in memory: some 10 MB. */
const KNOWN_GRANTS = 50_000;

/** Parts that tests replace. */
export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly evictions?: EvictionPublisher;
  readonly recorder?: (recorder: AccessRecorder) => AccessRecorder;
}

/** The running service and the ports it got. Disposing lets calls in flight finish. */
export type Service = RpcServer;

/** What everything is built from. */
interface Base {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly prisma: PrismaClient;
  readonly revocations: PrismaClient;
  readonly months: PrismaClient;
  readonly access: Postgres;
  readonly evictions: EvictionPublisher;
  readonly userOf: UserOf;
  readonly guard: Awaited<ReturnType<typeof openRestoreGuard>>;
}

/** Builds and starts the consent service. Starts also while the database is away: it then reports itself as not ready. */
export async function createService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const { clock = systemClock } = overrides;
  const log = overrides.log ?? createLogger({ service: 'consent', level: config.LOG_LEVEL });
  await using resources = new AsyncDisposableStack();
  const pools = resources.use(await openConnectionPools(config, log));
  const { access, revocations, months, ordinary: prisma } = pools;
  const evictions = overrides.evictions ?? openEvictions(config, clock, log, resources);
  const guard = resources.use(await openRestoreGuard(access.pool, config, log));
  const userOf = openSessions(config, clock);
  const base: Base = { config, clock, log, prisma, revocations, months, access, evictions, userOf, guard };
  await keepRecords(base, resources);
  // Whatever is disposed before the record keeping may still write records.
  const writer = resources.use(openWriter(base, overrides));
  const services = [
    buildLedgerService(base),
    await buildConsentService(base),
    accessService({
      accesses: createAccesses({
        writer,
        history: createPrismaAccessHistory(prisma),
        appUsage: createPrismaAppUsage(prisma),
      }),
      userOf: base.userOf,
    }),
    createRestoreService({ guard, countSuspended: createPrismaSuspensions(prisma).count }),
  ];
  const server = resources.use(await listen(base, services));
  const { rpcPort, probePort, connectPort } = server;
  log.info({ rpcPort, probePort, connectPort }, 'ready');
  const running = resources.move();
  return { rpcPort, probePort, connectPort, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

function openEvictions(
  config: Config,
  clock: Clock,
  log: Logger,
  resources: AsyncDisposableStack,
): EvictionPublisher {
  if (config.REDIS_URL === undefined) return noEvictions;
  return createRedisEvictions({ redis: resources.use(openRedis(config.REDIS_URL, log)), clock, log });
}

function openWriter({ config, clock, access, log, guard }: Base, overrides: Overrides): AccessWriter {
  const clockToleranceMs = config.ACCESS_CLOCK_TOLERANCE_MS;
  const stored = createPgAccessRecorder(access.pool, { clockToleranceMs, guard });
  const recorder = loggingClockDifference(stored, log);
  return createAccessWriter(
    { recorder: overrides.recorder?.(recorder) ?? recorder, clock },
    {
      maxBatch: LARGEST_BATCH,
      maxQueued: config.ACCESS_QUEUE_LIMIT,
      maxWaitMs: config.ACCESS_QUEUE_WAIT_MS,
      maxGrants: KNOWN_GRANTS,
    },
  );
}

/** Everything about records that goes on in the background, and the checkpoint that ends it. */
async function keepRecords(base: Base, resources: AsyncDisposableStack): Promise<void> {
  const { config, clock, log, prisma, months, access } = base;
  const retentionDays = config.RECORD_RETENTION_DAYS;
  const checkpoints = createCheckpoints(
    {
      checkpoints: createPrismaCheckpoints(prisma),
      signer: await createJoseSigner(config.RECEIPT_PRIVATE_KEY, CHECKPOINT_TYPE),
      clock,
    },
    { retentionDays, intervalMs: config.CHECKPOINT_INTERVAL_MS },
  );
  const partitions = createPrismaRecordPartitions(months);
  const keeping = createRecordKeeping(partitions, { retentionDays });
  const counter = createPgAccessCounter(access.pool);
  const failed = (what: string) => (err: unknown) => log.warn({ err }, `${what} failed`);
  const checkpoint = failed('the checkpoint of the records');
  resources.defer(() => checkpoints.take().then(() => undefined, checkpoint));
  type Turn = Parameters<typeof startPeriodic>[0];
  const every = (intervalMs: number, onFailure: (err: unknown) => void, turn: Turn) =>
    resources.use(
      startPeriodic(turn, { intervalMs, onFailure, atOnce: intervalMs === config.PRUNE_INTERVAL_MS }),
    );
  every(config.COUNT_INTERVAL_MS, failed('counting'), (signal) => countAll(counter, signal));
  every(config.CHECKPOINT_INTERVAL_MS, checkpoint, () => checkpoints.takeDue());
  every(config.PRUNE_INTERVAL_MS, failed('moving the months of records'), async (signal) => {
    const dropped = await keeping.movePartitions(signal);
    if (dropped.length > 0) {
      log.info({ months: dropped }, 'months of records dropped');
      await checkpoints.take();
    }
    await keeping.deleteCounts(signal);
    await checkpoints.dropOld(signal);
  });
  const pruned = createPrismaPruner(prisma, {
    revocationDays: config.PRUNE_REVOCATIONS_AFTER_DAYS,
    pendingDays: config.PRUNE_PENDING_AFTER_DAYS,
    refusalDays: config.PRUNE_REFUSALS_AFTER_DAYS,
  });
  resources.use(startPruning(pruned, { intervalMs: config.PRUNE_INTERVAL_MS, log }));
}

function buildLedgerService({ prisma, revocations, access, evictions, guard }: Base) {
  const ledger = createLedger({
    apps: createPrismaApps(prisma),
    statuses: createPrismaApps(revocations),
    credentials: createPrismaCredentials(revocations),
    liveness: createPgLiveness(access.pool, guard),
    evictions,
  });
  return ledgerService(
    acknowledging(guard, ledger, ['putApp', 'setAppStatus', 'revokeFamily', 'revokeToken']),
  );
}

async function buildConsentService(base: Base) {
  const { config, prisma, revocations, evictions, clock, userOf, guard } = base;
  const decisions = createPrismaDecisions(prisma, guard);
  const screen = createApprovalScreen({ decisions, evictions });
  const grants = createGrantDesk({
    grants: createPrismaGrants(prisma),
    withdrawals: createPrismaGrants(revocations),
    evictions,
  });
  const erasures = createErasures({ people: createPrismaPeople(prisma), evictions });
  return consentService({
    inbox: createApprovalInbox(createPrismaPendingApprovals(prisma), {
      maxLivePerApp: config.MAX_LIVE_PENDING_PER_APP,
    }),
    screen: acknowledging(guard, screen, ['approve', 'deny']),
    grants: acknowledging(guard, grants, ['narrow', 'revoke', 'revokeAll']),
    receipts: createReceipts({
      source: createPrismaReceipts(prisma),
      signer: await createJoseSigner(config.RECEIPT_PRIVATE_KEY, RECEIPT_TYPE),
      clock,
    }),
    erasures: acknowledging(guard, erasures, ['erase']),
    userOf,
  });
}

function listen(
  { config, log, clock, access }: Base,
  services: Parameters<typeof startRpcServer>[0]['services'],
): Promise<RpcServer> {
  const tls = toTlsFiles(config);
  return startRpcServer({
    services,
    verifyCaller: createServiceTokenVerifier({
      service: 'consent',
      publicKeys: config.SERVICE_PUBLIC_KEYS,
      clock,
    }),
    log,
    host: config.HOST,
    rpcPort: config.RPC_PORT,
    probePort: config.PROBE_PORT,
    connectPort: config.CONNECT_PORT ?? null,
    // On the pool of the hot path: a replica that can record stays in service while other work waits.
    health: () =>
      access.ping().then(
        () => true,
        () => false,
      ),
    ...(tls !== undefined && { tls }),
  });
}
