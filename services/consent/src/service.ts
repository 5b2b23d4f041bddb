import { type FailureReports, reportFailures } from '@phds/service-kit/background';
import { type Clock, systemClock } from '@phds/service-kit/clock';
import { type RestoreGuard, startRestoreGuard } from '@phds/service-kit/restore/guard';
import { createRestoreService } from '@phds/service-kit/restore/service';
import { createUserOf } from '@phds/service-kit/rpc/context';
import { type RpcServer, startRpcServer, toRpcServerOptions } from '@phds/service-kit/rpc/server';
import { openReloads } from '@phds/service-kit/settings/reload';
import { createLogger, type Logger } from '@phds/service-kit/telemetry/log';
import { Metrics, measurePools, measureRestores } from '@phds/service-kit/telemetry/metrics';
import { openSessionVerification, type SessionVerifier } from '@phds/service-kit/trust/session';
import { createAccessService, LARGEST_BATCH } from './access/access-service.ts';
import { createAccessHistory, createHistoryTurns } from './access/history.ts';
import { type AccessRecorder, createAccessRecorder } from './access/record.ts';
import { type AccessStatements, createAccessStatements } from './access/statements.ts';
import { createUsage } from './access/usage.ts';
import { createApps } from './apps.ts';
import { startBackgroundTasks } from './background.ts';
import { type Change, createChange } from './changes.ts';
import type { Config } from './config.ts';
import { createConsentService } from './consent-service.ts';
import { createDecisions } from './decide.ts';
import { createGrantService } from './grant-service.ts';
import { createGrants } from './grants.ts';
import { createJoseSigner, RECEIPT_TYPE } from './jose-signer.ts';
import { createLedgerService } from './ledger.ts';
import { createLivenessChecks } from './liveness.ts';
import { type ConsentMetrics, createConsentMetrics } from './metrics.ts';
import { createOperatorActService, createOperatorActs, type OperatorActs } from './operator-acts.ts';
import { createPeople } from './people.ts';
import { createPersonOperatorService } from './person-operator-service.ts';
import { createReceipts } from './receipts.ts';
import { type EvictionPublisher, openEvictions } from './redis-evictions.ts';
import { createSandboxService } from './sandbox.ts';
import { createSessionService, createSessions } from './sessions.ts';
import { type ConnectionPools, openConnectionPools, RESTORE_SCHEMA } from './store/connection-pools.ts';
import { createSuspensions } from './suspensions.ts';
import { startWebhookDelivery } from './webhooks/delivery.ts';
import { createWebhookService, type EndpointParts } from './webhooks/endpoints.ts';
import { createEventService } from './webhooks/events.ts';
import { createWebhookOperatorService } from './webhooks/operated.ts';

const SERVICE = 'consent';

/** Number of grants whose references are cached, about 10 MB. */
const KNOWN_GRANTS = 50_000;

/** Accesses that wait for their insert; more are refused. */
const MOST_WAITING = 10_000;

/** Parts that tests replace. */
export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly metrics?: Metrics;
  readonly evictions?: EvictionPublisher;
  readonly accessStatements?: (statements: AccessStatements) => AccessStatements;
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
  measurePools(metrics, pools.byName);
  let recorder: AccessRecorder | undefined;
  const guard = resources.use(
    await startRestoreGuard({
      pool: pools.access,
      schema: RESTORE_SCHEMA,
      config,
      log,
      onFailure: failureOf('checking whether the database was restored'),
      onPossibleLoss: () => recorder?.beginChain(),
    }),
  );
  measureRestores(metrics, guard);
  const evictions =
    overrides.evictions ?? openEvictions(config, { clock, log, metrics: measured }, resources);
  const { verify } = resources.use(openSessionVerification(config, { clock, failureOf }));
  const parts: Parts = {
    pools,
    config,
    clock,
    log,
    guard,
    change: createChange(guard, measured.onRevocation),
    evictions,
    verify,
    failureOf,
    metrics: measured,
  };
  await startBackgroundTasks(parts, resources);
  const webhooks = startWebhookDelivery(parts, resources);
  // Started after the background tasks, so that it is disposed before the last checkpoint is signed.
  recorder = resources.use(createRecorder(parts, overrides));
  const operatorRecord = createOperatorActs(parts);
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
  readonly pools: ConnectionPools;
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly guard: RestoreGuard;
  readonly change: Change;
  readonly evictions: EvictionPublisher;
  readonly verify: SessionVerifier;
  readonly failureOf: FailureReports;
  readonly metrics: ConsentMetrics;
}

function createRecorder(
  { pools, guard, config, clock, metrics }: Parts,
  overrides: Overrides,
): AccessRecorder {
  const options = { clockToleranceMs: config.ACCESS_CLOCK_TOLERANCE_MS, guard };
  const statements = metrics.measureStatements(createAccessStatements(pools.access, options));
  const recorder = createAccessRecorder({
    statements: overrides.accessStatements?.(statements) ?? statements,
    clock,
    maxBatch: LARGEST_BATCH,
    maxQueued: MOST_WAITING,
    maxWaitMs: config.ACCESS_QUEUE_WAIT_MS,
    maxGrants: KNOWN_GRANTS,
  });
  metrics.measureRecorder(recorder);
  return recorder;
}

async function createRpcServices(
  parts: Parts,
  { recorder, operatorRecord }: { readonly recorder: AccessRecorder; readonly operatorRecord: OperatorActs },
  webhooks: EndpointParts,
) {
  const { pools, config, guard, clock, verify } = parts;
  const userOf = createUserOf(verify);
  const grants = createGrants(parts);
  const liveness = createLivenessChecks(parts);
  const read = { ...parts, turns: createHistoryTurns(pools.ordinary) };
  const sessions = createSessions(parts);
  const signer = await createJoseSigner(config.RECEIPT_PRIVATE_KEY, RECEIPT_TYPE);
  const consent = {
    pools,
    maxLivePerApp: config.MAX_LIVE_PENDING_PER_APP,
    decisions: createDecisions(parts),
    grants,
    receipts: createReceipts({ ...parts, signer }),
    people: createPeople(parts),
    userOf,
  };
  return [
    createLedgerService({ ...parts, apps: createApps(parts), liveness }),
    createConsentService(consent),
    ...(config.SANDBOX ? [createSandboxService({ ...parts, grants, userOf })] : []),
    createAccessService({ recorder, history: createAccessHistory(read), usage: createUsage(read), userOf }),
    createGrantService({ pools, grants, liveness }),
    createSessionService(sessions),
    createPersonOperatorService({ pools, sessions, acts: operatorRecord, clock }),
    createOperatorActService({ acts: operatorRecord, userOf }),
    createWebhookService({ ...webhooks, userOf }),
    createWebhookOperatorService(pools.ordinary),
    createEventService(pools.ordinary, config.WEBHOOK_DATA_SPACING_MS),
    createRestoreService({ guard, suspensions: createSuspensions(pools.ordinary) }),
  ];
}
