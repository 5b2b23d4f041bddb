import { type Clock, systemClock } from '@phds/service-kit/clock';
import { createLogger, type Logger } from '@phds/service-kit/log';
import { openPostgres, type Postgres } from '@phds/service-kit/postgres';
import { openRedis } from '@phds/service-kit/redis';
import { type RpcServer, startRpcServer } from '@phds/service-kit/rpc-server';
import { toTlsFiles } from '@phds/service-kit/rpc-tls';
import { createServiceTokenVerifier } from '@phds/service-kit/service-token';
import { createSessionVerifier } from '@phds/service-kit/session';
import { createAccesses } from './app/accesses.ts';
import { createApprovalScreen } from './app/decisions.ts';
import { createGrantDesk } from './app/grants.ts';
import { createLedger } from './app/ledger.ts';
import { createApprovalInbox } from './app/pending-approvals.ts';
import type { AccessRecorder, EvictionPublisher } from './app/ports.ts';
import { startPruning } from './app/pruning.ts';
import { createReceipts } from './app/receipts.ts';
import { createRecordIds } from './app/record-id.ts';
import { createJoseReceiptSigner } from './clients/jose-receipt-signer.ts';
import type { Config } from './config.ts';
import { createRedisEvictions, noEvictions } from './events/redis-evictions.ts';
import { accessService } from './rpc/access-service.ts';
import { consentService } from './rpc/consent-service.ts';
import { ledgerService } from './rpc/ledger-service.ts';
import { createUserOf } from './rpc/user.ts';
import { PrismaClient } from './store/generated/client.ts';
import { ACCESS_POOL_SETTINGS, createPgAccessRecorder } from './store/pg-access-recorder.ts';
import { createPgLiveness } from './store/pg-liveness.ts';
import { createPrismaAccessHistory } from './store/prisma-access-history.ts';
import { createPrismaApps } from './store/prisma-apps.ts';
import { createPrismaCredentials } from './store/prisma-credentials.ts';
import { createPrismaDecisions } from './store/prisma-decisions.ts';
import { createPrismaGrants } from './store/prisma-grants.ts';
import { createPrismaPendingApprovals } from './store/prisma-pending-approvals.ts';
import { createPrismaPruner } from './store/prisma-pruner.ts';
import { createPrismaReceipts } from './store/prisma-receipts.ts';
import { translatingErrors } from './store/translated-errors.ts';

/** Parts that tests replace. */
export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly evictions?: EvictionPublisher;
  readonly recorder?: (recorder: AccessRecorder) => AccessRecorder;
}

/** The running service and the ports it got. Disposing lets calls in flight finish. */
export type Service = RpcServer;

/** Builds and starts the consent service. Starts also while the database is away: it then reports itself as not ready. */
export async function createService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const { clock = systemClock } = overrides;
  const log = overrides.log ?? createLogger({ service: 'consent', level: config.LOG_LEVEL });
  await using resources = new AsyncDisposableStack();
  const database = resources.use(openDatabase(config, 'phds-consent', config.DATABASE_POOL_SIZE, log));
  const access = resources.use(openDatabase(config, 'phds-consent-access', config.ACCESS_POOL_SIZE, log));
  const prisma = resources.adopt(new PrismaClient({ adapter: database.adapter }), (client) =>
    client.$disconnect(),
  );
  const evictions = overrides.evictions ?? openEvictions(config, clock, log, resources);
  const recorder = translatingErrors(createPgAccessRecorder(access.pool));
  const userOf = createUserOf(
    createSessionVerifier({
      issuer: config.SESSION_ISSUER,
      audience: config.SESSION_AUDIENCE,
      jwks: config.SESSION_JWKS,
      clock,
    }),
  );
  const services = [
    ledgerService(
      createLedger({
        apps: translatingErrors(createPrismaApps(prisma)),
        credentials: translatingErrors(createPrismaCredentials(prisma)),
        liveness: translatingErrors(createPgLiveness(access.pool)),
        evictions,
      }),
    ),
    await buildConsentService(config, prisma, { evictions, clock, userOf }),
    accessService({
      accesses: createAccesses({
        recorder: overrides.recorder?.(recorder) ?? recorder,
        history: translatingErrors(createPrismaAccessHistory(prisma)),
        newRecordId: createRecordIds(clock),
      }),
      userOf,
    }),
  ];
  resources.use(prune(config, prisma, log));
  const server = resources.use(await listen(config, log, clock, services, database));
  log.info({ rpcPort: server.rpcPort, httpPort: server.httpPort }, 'ready');
  const running = resources.move();
  return {
    rpcPort: server.rpcPort,
    httpPort: server.httpPort,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

function openDatabase(config: Config, applicationName: string, poolSize: number, log: Logger): Postgres {
  return openPostgres({
    connectionString: config.DATABASE_URL,
    schema: 'consent',
    poolSize,
    statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
    applicationName,
    log,
    ...(applicationName === 'phds-consent-access' && { settings: ACCESS_POOL_SETTINGS }),
  });
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

async function buildConsentService(
  config: Config,
  prisma: PrismaClient,
  shared: { evictions: EvictionPublisher; clock: Clock; userOf: ReturnType<typeof createUserOf> },
) {
  const { evictions, clock, userOf } = shared;
  return consentService({
    inbox: createApprovalInbox(translatingErrors(createPrismaPendingApprovals(prisma)), {
      maxLivePerApp: config.MAX_LIVE_PENDING_PER_APP,
    }),
    screen: createApprovalScreen({ decisions: translatingErrors(createPrismaDecisions(prisma)), evictions }),
    grants: createGrantDesk({ grants: translatingErrors(createPrismaGrants(prisma)), evictions }),
    receipts: createReceipts({
      source: translatingErrors(createPrismaReceipts(prisma)),
      signer: await createJoseReceiptSigner(config.RECEIPT_PRIVATE_KEY),
      clock,
    }),
    userOf,
  });
}

function prune(config: Config, prisma: PrismaClient, log: Logger): AsyncDisposable {
  return startPruning(translatingErrors(createPrismaPruner(prisma)), {
    intervalMs: config.PRUNE_INTERVAL_MS,
    revocationDays: config.PRUNE_REVOCATIONS_AFTER_DAYS,
    pendingDays: config.PRUNE_PENDING_AFTER_DAYS,
    report: (outcome) => {
      if ('error' in outcome) log.warn({ err: outcome.error }, 'pruning failed');
      else log.debug({ rows: outcome.rows }, 'pruned');
    },
  });
}

function listen(
  config: Config,
  log: Logger,
  clock: Clock,
  services: Parameters<typeof startRpcServer>[0]['services'],
  database: Postgres,
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
    httpPort: config.INTERNAL_HTTP_PORT,
    health: () =>
      database.ping().then(
        () => true,
        () => false,
      ),
    ...(tls !== undefined && { tls }),
  });
}
