import { type FailureReports, reportFailures } from '@phds/service-kit/background-failures';
import { type Clock, systemClock } from '@phds/service-kit/clock';
import { startPruning } from '@phds/service-kit/pruning';
import { acknowledging, type RestoreGuard, startRestoreGuard } from '@phds/service-kit/restore/guard';
import { createRestoreService } from '@phds/service-kit/restore/service';
import { createUserOf } from '@phds/service-kit/rpc/context';
import { type RpcServer, startRpcServer } from '@phds/service-kit/rpc/server';
import { openReloads } from '@phds/service-kit/settings/reload';
import { openSessionVerification, toRpcServerOptions } from '@phds/service-kit/settings/service-options';
import { createLogger, type Logger } from '@phds/service-kit/telemetry/log';
import { Metrics } from '@phds/service-kit/telemetry/metrics';
import type { SessionVerifier } from '@phds/service-kit/trust/session';
import type pg from 'pg';
import type { AccessRecordStore } from './app/access-ports.ts';
import { type AccessRecorder, createAccessRecorder } from './app/access-recorder.ts';
import { createAccesses } from './app/accesses.ts';
import { loggingClockDifference } from './app/clock-difference.ts';
import { createDecisions } from './app/decisions.ts';
import { createErasures } from './app/erasures.ts';
import { createGrants } from './app/grants.ts';
import { createLedger, type Ledger } from './app/ledger.ts';
import { createOperatorActs, type OperatorActs } from './app/operator-acts.ts';
import { createPendingApprovals } from './app/pending-approvals.ts';
import type { EvictionPublisher } from './app/ports.ts';
import { createReceipts } from './app/receipts.ts';
import { createSandbox, type Sandbox } from './app/sandbox.ts';
import { createSessions, type Sessions } from './app/sessions.ts';
import { createSharing } from './app/sharing.ts';
import { startBackgroundTasks } from './background-tasks.ts';
import { createJoseSigner, RECEIPT_TYPE } from './clients/jose-signer.ts';
import type { Config } from './config.ts';
import { openEvictions } from './events/redis-evictions.ts';
import { type ConsentMetrics, createConsentMetrics } from './metrics.ts';
import { createAccessService, LARGEST_BATCH } from './rpc/access-service.ts';
import { type ConsentServiceParts, createConsentService } from './rpc/consent-service.ts';
import { createGrantService } from './rpc/grant-service.ts';
import { createLedgerService } from './rpc/ledger-service.ts';
import { createOperatorActService } from './rpc/operator-act-service.ts';
import { createPersonOperatorService } from './rpc/person-operator-service.ts';
import { createSandboxService } from './rpc/sandbox-service.ts';
import { createSessionService } from './rpc/session-service.ts';
import { openConnectionPools } from './store/connection-pools.ts';
import { createPgPruner } from './store/pg-pruner.ts';
import { RESTORE_SCHEMA } from './store/restore-guard.ts';
import { createStores, type Stores } from './store/stores.ts';
import { startWebhookDelivery } from './webhooks/delivery.ts';
import {
  createEventService,
  createWebhookOperatorService,
  createWebhookService,
} from './webhooks/rpc/webhook-service.ts';

const SERVICE = 'consent';

/** Number of grants whose references are cached, about 10 MB. */
const KNOWN_GRANTS = 50_000;

/** Parts that tests replace. */
export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly metrics?: Metrics;
  readonly evictions?: EvictionPublisher;
  readonly accessRecords?: (store: AccessRecordStore) => AccessRecordStore;
}

/** The running service and its ports. Disposal waits for calls in progress. */
export type Service = RpcServer;

/** Builds and starts the service. It also starts while the database is unavailable, and is then not ready. */
export async function createService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const { clock = systemClock, metrics = new Metrics({ service: SERVICE }) } = overrides;
  const log = overrides.log ?? createLogger({ service: SERVICE, level: config.LOG_LEVEL });
  const measured = createConsentMetrics(metrics);
  const failureOf = reportFailures(metrics, log);
  await using resources = new AsyncDisposableStack();
  const reloads = resources.use(openReloads(config, { metrics, log }));
  const pools = resources.use(await openConnectionPools(config, log));
  measured.measurePools(pools.byName);
  let recorder: AccessRecorder | undefined;
  const beginChain = () => recorder?.beginChain();
  const guard = resources.use(
    await watchRestores(pools.access, { config, log, failureOf, measured, beginChain }),
  );
  const evictions =
    overrides.evictions ?? openEvictions(config, { clock, log, metrics: measured }, resources);
  const { verify } = resources.use(openSessionVerification(config, { clock, failureOf }));
  const stores = createStores(pools, {
    guard,
    clockToleranceMs: config.ACCESS_CLOCK_TOLERANCE_MS,
    hostWebhooks: config.HOST_WEBHOOKS,
  });
  const parts: Parts = { stores, config, clock, log, guard, evictions, verify, failureOf, metrics: measured };
  await startBackgroundTasks(parts, resources);
  const pruned = createPgPruner(pools.ordinary, config);
  resources.use(startPruning(pruned, { intervalMs: config.PRUNE_INTERVAL_MS, failureOf }));
  const webhooks = startWebhookDelivery(parts, resources);
  // Started after the background tasks, so that it is disposed before the last checkpoint is signed.
  recorder = resources.use(createRecorder(parts, overrides));
  const operatorRecord = acknowledging(guard, createOperatorActs(stores.operatorActs), ['begin', 'end']);
  const server = resources.use(
    await startRpcServer({
      ...toRpcServerOptions(config, { service: SERVICE, clock, operatorRecord, reloads }),
      services: await createRpcServices(parts, { recorder, operatorRecord }, webhooks),
      log,
      metrics,
      // Uses the pool that records: a replica that can record stays in service while other work waits.
      health: () => pools.ping().then(() => true),
    }),
  );
  const running = resources.move();
  return { ...server, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** The parts that use cases and stores are built from. */
interface Parts {
  readonly stores: Stores;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly guard: RestoreGuard;
  readonly evictions: EvictionPublisher;
  readonly verify: SessionVerifier;
  readonly failureOf: FailureReports;
  readonly metrics: ConsentMetrics;
}

async function watchRestores(
  pool: pg.Pool,
  {
    config,
    log,
    failureOf,
    measured,
    beginChain,
  }: Pick<Parts, 'config' | 'log' | 'failureOf'> & {
    readonly measured: ConsentMetrics;
    readonly beginChain: () => void;
  },
): Promise<RestoreGuard> {
  const onFailure = failureOf('checking whether the database was restored');
  const options = { pool, schema: RESTORE_SCHEMA, config, log, onFailure, onPossibleLoss: beginChain };
  const guard = await startRestoreGuard(options);
  measured.measureRestores(guard);
  return guard;
}

function createRecorder(
  { config, clock, stores, log, metrics }: Parts,
  overrides: Overrides,
): AccessRecorder {
  const measured = metrics.measureRecordStore(stores.accessRecords);
  const store = loggingClockDifference(measured, log);
  const recorder = createAccessRecorder({
    store: overrides.accessRecords?.(store) ?? store,
    clock,
    maxBatch: LARGEST_BATCH,
    maxQueued: config.ACCESS_QUEUE_LIMIT,
    maxWaitMs: config.ACCESS_QUEUE_WAIT_MS,
    maxGrants: KNOWN_GRANTS,
  });
  return metrics.measureRecorder(recorder);
}

async function createRpcServices(
  parts: Parts,
  { recorder, operatorRecord }: { readonly recorder: AccessRecorder; readonly operatorRecord: OperatorActs },
  { webhooks, changes }: ReturnType<typeof startWebhookDelivery>,
) {
  const { stores, guard, clock, verify } = parts;
  const userOf = createUserOf(verify);
  const accesses = createAccesses({ ...stores, clock });
  const useCases = await createConsentUseCases(parts);
  const sessions = createSessionsUseCase(parts);
  return [
    createLedgerService(createLedgerUseCase(parts)),
    createConsentService({ ...useCases, userOf }),
    ...(parts.config.SANDBOX
      ? [createSandboxService({ sandbox: createSandboxUseCase(parts, useCases), userOf })]
      : []),
    createAccessService({ recorder, accesses, userOf }),
    createGrantService({
      grants: useCases.grants,
      isShared: createSharing({ grants: stores.grants, liveness: stores.liveness }),
    }),
    createSessionService(sessions),
    createPersonOperatorService({
      ...useCases,
      sessions,
      acts: operatorRecord,
      clock,
    }),
    createOperatorActService({ acts: operatorRecord, userOf }),
    createWebhookService({ webhooks, userOf }),
    createWebhookOperatorService(stores.operatedWebhooks),
    createEventService(changes),
    createRestoreService({ guard, suspensions: stores.suspensions }),
  ];
}

function createLedgerUseCase({ stores, evictions, guard, metrics }: Parts): Ledger {
  const ledger = metrics.measureRevocations(createLedger({ ...stores, evictions }), {
    setAppStatus: 'app_status',
    revokeFamily: 'family',
    revokeToken: 'token',
  });
  return acknowledging(guard, ledger, [
    'putApp',
    'setAppStatus',
    'setAppOwner',
    'revokeFamily',
    'revokeToken',
  ]);
}

function createSandboxUseCase(parts: Parts, { grants }: Pick<ConsentServiceParts, 'grants'>): Sandbox {
  const { sandboxGrants } = parts.stores;
  return acknowledging(parts.guard, createSandbox({ ...parts, grants, sandboxGrants }), ['change']);
}

function createSessionsUseCase({ stores, guard, metrics }: Parts): Sessions {
  const sessions = metrics.measureRevocations(
    createSessions({ ends: stores.sessionEnds, checks: stores.sessionChecks }),
    { end: 'session' },
  );
  return acknowledging(guard, sessions, ['end']);
}

async function createConsentUseCases(parts: Parts): Promise<Omit<ConsentServiceParts, 'userOf'>> {
  const { config, stores, evictions, clock, guard, metrics, log } = parts;
  const decisions = createDecisions({ decisions: stores.decisions, evictions });
  const grants = metrics.measureRevocations(
    createGrants({
      grants: stores.grants,
      withdrawals: stores.withdrawals,
      evictions,
      onWithdrawn: (what, grantId) => log.info({ grantId }, what),
    }),
    {
      revoke: 'grant',
      revokeByApp: 'grant_by_app',
      endByOperator: 'grant_by_operator',
      revokeAll: 'all_grants',
      narrow: 'narrowing',
    },
  );
  const erasures = metrics.measureRevocations(createErasures({ people: stores.people, evictions }), {
    erase: 'erasure',
  });
  return {
    pendingApprovals: createPendingApprovals({
      pendingApprovals: stores.pendingApprovals,
      maxLivePerApp: config.MAX_LIVE_PENDING_PER_APP,
    }),
    decisions: acknowledging(guard, decisions, ['approve', 'deny']),
    grants: acknowledging(guard, grants, [
      'narrow',
      'revoke',
      'revokeByApp',
      'endByOperator',
      'revokeAll',
      'requestDeletion',
    ]),
    receipts: createReceipts({
      receipts: stores.receipts,
      signer: await createJoseSigner(config.RECEIPT_PRIVATE_KEY, RECEIPT_TYPE),
      clock,
    }),
    erasures: acknowledging(guard, erasures, ['erase']),
  };
}
