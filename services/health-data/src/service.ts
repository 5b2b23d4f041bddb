import { join } from 'node:path';
import { reportFailures, startPeriodic, startPruning } from '@phds/service-kit/background';
import { createTurns, type Turns } from '@phds/service-kit/batcher';
import { type Clock, systemClock } from '@phds/service-kit/clock';
import { withoutDeadline } from '@phds/service-kit/current-work';
import {
  DATABASE_CONNECT_TIMEOUT_MS,
  openPostgres,
  type Postgres,
  toHalf,
} from '@phds/service-kit/postgres/postgres';
import { toSchemaName } from '@phds/service-kit/postgres/postgres-names';
import { type RpcServer, startRpcServer, toRpcServerOptions } from '@phds/service-kit/rpc/server';
import { openReloads } from '@phds/service-kit/settings/reload';
import { createLogger, type Logger } from '@phds/service-kit/telemetry/log';
import { Metrics, measurePools } from '@phds/service-kit/telemetry/metrics';
import { createAssertionVerifier } from '@phds/service-kit/trust/access-assertion';
import { openSessionVerification } from '@phds/service-kit/trust/session';
import { createChangePruning, forgetChanges } from './change-pruning.ts';
import { createChangeOutbox, type Report, startChangeReports } from './change-reports.ts';
import { connectConsent, openAccessRecorder, type SendAccesses } from './clients/consent-connection.ts';
import { makeUpLife } from './clients/synthetic-lives.ts';
import type { Config } from './config.ts';
import { type Placement, toPoolSettings } from './database.ts';
import { createUserEraser } from './erasure.ts';
import { createReadingSpans } from './fhir/reading-spans.ts';
import { createImports, type Imports } from './imports.ts';
import { createReadingWriter } from './ingest-readings.ts';
import { createRecordWriter } from './ingest-records.ts';
import { createHealthDataMetrics } from './metrics.ts';
import { createPreviewService } from './preview.ts';
import { createProfiles } from './profiles.ts';
import { createPublicIds } from './public-ids.ts';
import { createReadingChanges } from './reading-changes.ts';
import { createReadings } from './readings.ts';
import { createHealthRecords } from './records.ts';
import type { DataParts } from './resources.ts';
import { createHealthDataService } from './rpc/health-data-service.ts';
import { createIngestionService } from './rpc/ingestion-service.ts';
import { createSandboxService, type SandboxParts } from './sandbox.ts';
import { createSummaries, type ScanLimits } from './summaries.ts';
import { createWeights } from './weights.ts';

const SERVICE = 'health-data';

const MEASURING_MS = 15_000;

/** Between tries to delete old changes. */
const HOUR_MS = 3_600_000;

/** Two people's data is made at once, which takes up to two seconds; the names of a test run wait for theirs. */
const MAKING_PEOPLE = { atOnce: 2, perKey: 1, maxQueued: 100, maxWaitMs: 15_000 };

/** Parts that tests replace. */
interface Overrides {
  readonly clock?: Clock;
  readonly log?: Logger;
  readonly metrics?: Metrics;
  /** Has accesses recorded and judged, in place of the connection to consent. */
  readonly sendAccesses?: SendAccesses;
}

/** The running service and its parts. Disposal waits for calls in progress. */
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
  const { pool } = postgres;
  measurePools(metrics, { ordinary: pool });
  const consent = resources.use(connectConsent(config, { service: SERVICE, clock, metrics, reloads }));
  const imports = createImports(pool);
  const background = { pool, config, clock, log, failureOf, imports };
  startBackground(resources, { ...background, measured, report: consent.report });
  const verification = resources.use(openSessionVerification(config, { clock, failureOf }));
  const publicIds = createPublicIds(config.PUBLIC_ID_KEY);
  const turns = createReadTurns(pool);
  const data = createDataParts(pool, config, { onReadBatch: measured.onReadBatch, turns, clock });
  const ingestion = { ...createWriters(pool, toPlacement(config)), profiles: data.profiles, imports, clock };
  const record = openAccessRecorder(config, overrides.sendAccesses ?? consent.sendAccesses);
  const verifyAssertion = createAssertionVerifier({ publicKeys: config.ASSERTION_PUBLIC_KEYS, clock });
  const server = resources.use(
    await startRpcServer({
      ...toRpcServerOptions(config, {
        service: SERVICE,
        clock,
        operatorRecord: consent.operatorRecord,
        reloads,
      }),
      services: [
        createHealthDataService({ data, record, publicIds, turns, verifyAssertion }),
        createPreviewService({ data, publicIds, turns, verifySession: verification.verify }),
        createIngestionService(ingestion),
        ...(config.SANDBOX ? [createSandbox({ ...ingestion, pool, publicIds })] : []),
      ],
      log,
      metrics,
      // Does not check consent: without it this service still stores data, and refuses reads by itself.
      health: () => postgres.ping().then(() => true),
    }),
  );
  const running = resources.move();
  return { ...server, [Symbol.asyncDispose]: () => running.disposeAsync() };
}

interface Background {
  readonly pool: Postgres['pool'];
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Logger;
  readonly failureOf: (task: string) => (error: unknown) => void;
  readonly imports: Imports;
  readonly measured: ReturnType<typeof createHealthDataMetrics>;
  readonly report: Report;
}

/** What happens by itself: consent is told of changes, old ones are forgotten, and the state of the database is measured. */
function startBackground(resources: AsyncDisposableStack, parts: Background): void {
  const { pool, config, clock, log, failureOf, imports, measured, report } = parts;
  const placement = toPlacement(config);
  const outbox = createChangeOutbox(pool, placement);
  const intervalMs = config.CHANGE_REPORT_INTERVAL_MS;
  resources.use(startChangeReports({ outbox, report, intervalMs, log, failureOf }));
  const measure = () => measured.measure(outbox, imports, clock.now());
  const onFailure = failureOf('measuring the changes and imports');
  resources.use(startPeriodic(measure, { intervalMs: MEASURING_MS, atOnce: true, onFailure }));
  const pruning = createChangePruning(pool, placement);
  const forget = forgetChanges(pruning, config.READING_CHANGE_DAYS, clock);
  resources.use(startPruning({ reading_change: forget }, { intervalMs: HOUR_MS, failureOf }));
}

/** What reads are answered from. */
function createDataParts(
  pool: Postgres['pool'],
  config: Config,
  { onReadBatch, turns, clock }: { onReadBatch: (size: number) => void; turns: Turns; clock: Clock },
): DataParts {
  return {
    readings: createReadings(pool, onReadBatch, toPlacement(config)),
    readingSpans: createReadingSpans(pool, onReadBatch, toPlacement(config)),
    readingChanges: createReadingChanges(pool),
    changeDays: config.READING_CHANGE_DAYS,
    summaries: createSummaries(pool, toScanLimits(config), turns),
    weights: createWeights(pool),
    healthRecords: createHealthRecords(pool),
    profiles: createProfiles(pool),
    clock,
  };
}

function createWriters(pool: Postgres['pool'], placement: Placement) {
  const eraser = createUserEraser(pool, undefined, placement);
  return {
    readingWriter: createReadingWriter(pool),
    healthRecordWriter: createRecordWriter(pool),
    // Continues after the call that requested it, because an operator's timeout may be shorter.
    eraser: { erase: (userId: string) => withoutDeadline(() => eraser.erase(userId)) },
  };
}

function openDatabase(config: Config, log: Logger): Postgres {
  return openPostgres({
    connectionString: config.DATABASE_URL,
    schema: toSchemaName(SERVICE),
    poolSize: config.DATABASE_POOL_SIZE,
    connectTimeoutMs: DATABASE_CONNECT_TIMEOUT_MS * config.DEADLINE_FACTOR,
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
  return { maxPerKey: SCANS_WAITING, maxWaitMs: statementTimeoutMs / 4, statementTimeoutMs };
}

/** Reads of one app that wait for a turn, and how long: less than the gateway waits for an answer. */
const READS = { maxPerKey: 200, maxWaitMs: 2_000 };

/** Few at once, because newest pages wait for the connections and for the processor time that they use. */
function createReadTurns(pool: Postgres['pool']): Turns {
  const atOnce = Math.ceil(toHalf(pool) / 2);
  return createTurns({ ...READS, atOnce, perKey: Math.ceil(atOnce / 2) });
}

function createSandbox(parts: Omit<SandboxParts, 'makeUp'>) {
  const inTurn = createTurns(MAKING_PEOPLE);
  // Several calls wait for the same data, so it is made even if the first of them gives up.
  const turns: Turns = (key, work) => withoutDeadline(() => inTurn(key, work));
  return createSandboxService({ ...parts, makeUp: makeUpLife }, turns);
}
