import { join } from 'node:path';
import { reportFailures } from '@phds/service-kit/background-failures';
import { createTurns, type Turns } from '@phds/service-kit/batcher';
import { type Clock, systemClock } from '@phds/service-kit/clock';
import { withoutDeadline } from '@phds/service-kit/deadline';
import { openPostgres, type Postgres, toHalf } from '@phds/service-kit/postgres/postgres';
import { toSchemaName } from '@phds/service-kit/postgres/postgres-names';
import { startPruning } from '@phds/service-kit/pruning';
import { type RpcServer, startRpcServer } from '@phds/service-kit/rpc/server';
import { openReloads } from '@phds/service-kit/settings/reload';
import {
  openSessionVerification,
  type SessionVerification,
  toRpcServerOptions,
} from '@phds/service-kit/settings/service-options';
import { createLogger, type Logger } from '@phds/service-kit/telemetry/log';
import { Metrics } from '@phds/service-kit/telemetry/metrics';
import { createAssertionVerifier } from '@phds/service-kit/trust/access-assertion';
import { startChangeReports } from './app/change-reports.ts';
import type { IngestionPorts } from './app/ingestion.ts';
import { startMeasurements } from './app/measurements.ts';
import type { AccessRecorder, ChangePruning, ImportStore } from './app/ports.ts';
import { createPublicIds, type PublicIds } from './app/public-ids.ts';
import { connectConsent, openAccessRecorder } from './clients/consent-connection.ts';
import type { SendAccesses } from './clients/rpc-access-log.ts';
import { makeUpLife } from './clients/synthetic-lives.ts';
import type { Config } from './config.ts';
import { createHealthDataMetrics, type HealthDataMetrics } from './metrics.ts';
import { createHealthDataService } from './rpc/health-data-service.ts';
import { createIngestionService } from './rpc/ingestion-service.ts';
import { createPreviewService } from './rpc/preview-service.ts';
import { createSandboxService } from './rpc/sandbox-service.ts';
import { type Placement, toPoolSettings } from './store/database.ts';
import { createPgChangeOutbox } from './store/pg-change-outbox.ts';
import { createPgChangePruning } from './store/pg-change-pruning.ts';
import { createPgHealthRecords, createPgHealthRecordWriter } from './store/pg-health-records.ts';
import { createPgImports } from './store/pg-imports.ts';
import { createPgProfileWriter } from './store/pg-profile-writer.ts';
import { createPgProfiles } from './store/pg-profiles.ts';
import { createPgReadingChanges } from './store/pg-reading-changes.ts';
import { createPgReadingSpans } from './store/pg-reading-spans.ts';
import { createPgReadingWriter } from './store/pg-reading-writer.ts';
import { createPgReadings } from './store/pg-readings.ts';
import { createPgSandboxPeople } from './store/pg-sandbox-people.ts';
import { createPgSummaries, type ScanLimits } from './store/pg-summaries.ts';
import { createPgUserEraser } from './store/pg-user-eraser.ts';
import { createPgWeights } from './store/pg-weights.ts';

const SERVICE = 'health-data';

/** Between walks through all users, which delete their old changes. */
const DAY_MS = 86_400_000;

/** Two people's data is made at once, which takes up to two seconds; the names of a test run wait for theirs. */
const MAKING_PEOPLE = { atOnce: 2, perKey: 1, maxQueued: 100, maxWaitMs: 15_000 };

/** Parts that tests replace. */
export interface Overrides {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly metrics?: Metrics;
  /** Has accesses recorded and judged, in place of the connection to consent. */
  readonly accessLog?: SendAccesses;
}

/** The running service and its ports. Disposal waits for calls in progress. */
export type Service = RpcServer;

/** Builds and starts the service. */
export async function createService(config: Config, overrides: Overrides = {}): Promise<Service> {
  const { clock = systemClock, metrics = new Metrics({ service: SERVICE }) } = overrides;
  const log = overrides.log ?? createLogger({ service: SERVICE, level: config.LOG_LEVEL });
  const measured = createHealthDataMetrics(metrics);
  const failureOf = reportFailures(metrics, log);
  await using resources = new AsyncDisposableStack();
  const reloads = resources.use(openReloads(config, { metrics, log }));
  const postgres = resources.use(openDatabase(config, log));
  measured.measurePools({ ordinary: postgres.pool });
  const consent = resources.use(connectConsent(config, { service: SERVICE, clock, metrics, reloads }));
  const recorder = openAccessRecorder(config, overrides.accessLog ?? consent.accessLog);
  const placement = toPlacement(config);
  const outbox = createPgChangeOutbox(postgres.pool, placement);
  const intervalMs = config.CHANGE_REPORT_INTERVAL_MS;
  resources.use(startChangeReports({ outbox, report: consent.report, intervalMs, log, failureOf }));
  const imports = createPgImports(postgres.pool);
  resources.use(startMeasurements({ outbox, imports, clock, ...measured, failureOf }));
  const verification = resources.use(openSessionVerification(config, { clock, failureOf }));
  const ingestion = createIngestionPorts({ clock, pool: postgres.pool, placement });
  const forget = forgetChanges(createPgChangePruning(postgres.pool, placement), config, clock);
  resources.use(startPruning({ reading_change: forget }, { intervalMs: DAY_MS, failureOf }));
  const server = resources.use(
    await startRpcServer({
      ...toRpcServerOptions(config, {
        service: SERVICE,
        clock,
        operatorRecord: consent.operatorRecord,
        reloads,
      }),
      services: createRpcServices({
        config,
        clock,
        verification,
        pool: postgres.pool,
        recorder,
        ingestion,
        imports,
        metrics: measured,
      }),
      log,
      metrics,
      // Does not check consent: without it this service still stores data, and refuses reads by itself.
      health: () => postgres.ping().then(() => true),
    }),
  );
  const running = resources.move();
  return { ...server, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

/** Goes through all users. A day later than cursors expire, because a change can become visible some time after its own time. */
function forgetChanges({ prune }: ChangePruning, { READING_CHANGE_DAYS: days }: Config, clock: Clock) {
  let after: string | null = null;
  return async (limit: number) => {
    after = await prune(after ?? '', new Date(clock.now().getTime() - (days + 1) * DAY_MS), limit);
    return after === null ? 0 : limit;
  };
}

/** What use cases and stores are built from. */
interface Parts {
  readonly config: Config;
  readonly clock: Clock;
  readonly verification: SessionVerification;
  readonly pool: Postgres['pool'];
  readonly recorder: AccessRecorder;
  readonly ingestion: IngestionPorts;
  readonly imports: ImportStore;
  readonly metrics: HealthDataMetrics;
}

function openDatabase(config: Config, log: Logger): Postgres {
  return openPostgres({
    connectionString: config.DATABASE_URL,
    schema: toSchemaName(SERVICE),
    poolSize: config.DATABASE_POOL_SIZE,
    connectTimeoutMs: config.DATABASE_CONNECT_TIMEOUT_MS,
    statementTimeoutMs: config.DATABASE_STATEMENT_TIMEOUT_MS,
    applicationName: `phds-${SERVICE}`,
    settings: toPoolSettings(toPlacement(config)),
    migrations: join(import.meta.dirname, '../prisma/migrations'),
    log,
  });
}

function toPlacement({ DATABASE_DISTRIBUTED: distributed }: Config): Placement {
  return { distributed };
}

/** For one app. More could not be answered in time. */
const SCANS_WAITING = 20;

function toScanLimits({ SUMMARY_SCAN_TIMEOUT_MS: statementTimeoutMs }: Config): ScanLimits {
  return { maxQueued: SCANS_WAITING, maxWaitMs: statementTimeoutMs / 4, statementTimeoutMs };
}

/** Reads that wait for a turn, and how long: less than the gateway waits for an answer. */
const READS = { maxQueued: 400, maxWaitMs: 2_000 };

/** Few at once, because newest pages wait for the connections and for the processor time that they use. */
function createReadTurns(pool: Postgres['pool']): Turns {
  const atOnce = Math.ceil(toHalf(pool) / 2);
  return createTurns({ ...READS, atOnce, perKey: Math.ceil(atOnce / 2) });
}

function createRpcServices(parts: Parts) {
  const { config, clock, verification, pool, recorder, ingestion, imports, metrics } = parts;
  const profiles = createPgProfiles(pool);
  const turns = createReadTurns(pool);
  const data = {
    readings: createPgReadings(pool, metrics.onReadBatch, toPlacement(config)),
    readingSpans: createPgReadingSpans(pool),
    readingChanges: createPgReadingChanges(pool),
    changeDays: config.READING_CHANGE_DAYS,
    summaries: createPgSummaries(pool, toScanLimits(config), turns),
    weights: createPgWeights(pool),
    healthRecords: createPgHealthRecords(pool),
    profiles,
    clock,
  };
  const publicIds = createPublicIds(config.PUBLIC_ID_KEY);
  const verifyAssertion = createAssertionVerifier({ publicKeys: config.ASSERTION_PUBLIC_KEYS, clock });
  return [
    createHealthDataService({ data, recorder, publicIds, turns, verifyAssertion }),
    createPreviewService({ data, publicIds, verifySession: verification.verify }),
    createIngestionService({ ...ingestion, imports, zones: profiles }),
    ...(config.SANDBOX ? [createSandbox(parts, publicIds)] : []),
  ];
}

function createSandbox({ ingestion, pool }: Parts, publicIds: PublicIds) {
  const people = createPgSandboxPeople(pool);
  const inTurn = createTurns(MAKING_PEOPLE);
  // Several calls wait for the same data, so it is made even if the first of them gives up.
  const turns: Turns = (key, work) => withoutDeadline(() => inTurn(key, work));
  return createSandboxService({ ...ingestion, people, makeUp: makeUpLife, publicIds }, turns);
}

/** What ingestion writes with. */
function createIngestionPorts({
  clock,
  pool,
  placement,
}: Pick<Parts, 'clock' | 'pool'> & { readonly placement: Placement }): IngestionPorts {
  const eraser = createPgUserEraser(pool, undefined, placement);
  return {
    readingWriter: createPgReadingWriter(pool),
    healthRecordWriter: createPgHealthRecordWriter(pool),
    profiles: createPgProfileWriter(pool),
    // Continues after the call that requested it, because an operator's timeout may be shorter.
    eraser: { erase: (userId) => withoutDeadline(() => eraser.erase(userId)) },
    clock,
  };
}
