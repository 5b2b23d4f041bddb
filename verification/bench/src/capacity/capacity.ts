import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join, resolve } from 'node:path';
import { openClient } from '@phds/guarantees/open-client';
import { askRedis } from '@phds/guarantees/processes';
import { defaultDataDirectory } from '@phds/local-stack/data-directory';
import { type Stack, startStack } from '@phds/local-stack/stack';
import { ensureServiceDatabase } from '@phds/service-kit/postgres/database-roles';
import { applyMigrations } from '@phds/service-kit/postgres/migrations';
import { toDatabaseUrl } from '@phds/service-kit/postgres/postgres-names';
import { configSchema as authorization } from '../../../../services/authorization/src/config.ts';
import { configSchema as consent } from '../../../../services/consent/src/config.ts';
import { configSchema as healthData } from '../../../../services/health-data/src/config.ts';
import type { Options } from '../options.ts';
import { connectUsers } from '../prepare-stack.ts';
import { findProcesses } from '../processes.ts';
import { COSTS_FILE, type Costs, type RowBytes, readCosts } from './model.ts';
import { type Observed, observe, readTables, toGrowth } from './observe.ts';
import { PAGE_FILE, renderPage } from './page.ts';
import { ingest, openWork, READINGS_PER_CALL, type Work } from './work.ts';

/** People who are connected before the measurement, so that programs are compiled and plans made. */
const WARM_UP_PEOPLE = 60;
const WARM_UP_SECONDS = 4;
const SCHEMAS = ['consent', 'consent_audit', 'authorization', 'health_data'];

/** Tables whose rows are changed again and again. Without vacuum, old versions would count as bytes of the rows. */
const UPDATED = [
  'consent.access_day',
  'health_data.reading_count',
  'health_data.hour_rollup',
  'health_data.day_rollup',
  'health_data.rollup_state',
];

/** Measures the costs of all kinds of work unless an option says otherwise, and writes them and the page that is computed from them. */
export async function benchCapacity(options: Options): Promise<string> {
  if (!options.computed) writeCosts(COSTS_FILE, await measureCosts(options));
  writeFileSync(PAGE_FILE, renderPage(readCosts()));
  return `written: ${COSTS_FILE} and ${PAGE_FILE}`;
}

/** Measures every cost on a stack of its own, which it fills anew. Takes some minutes. */
async function measureCosts(options: Options): Promise<Costs> {
  const before = readLoad();
  const dataDirectory = join(defaultDataDirectory, 'bench-capacity');
  await using stack = await startStack({
    dataDirectory,
    ports: { random: true, gateways: 1 },
    fresh: true,
    seed: false,
    // What vacuum and checkpoints cost depends on when they run; full pages are measured apart.
    postgresSettings: { autovacuum_naptime: '10min', checkpoint_timeout: '30min', max_wal_size: '8GB' },
    say: console.log,
  });
  await using admin = await openClient(toDatabaseUrl(stack.adminDatabaseUrl, { database: 'phds' }));
  const observed = { admin, processes: await findProcesses(stack, dataDirectory) };
  const tablesBefore = await readTables(admin, SCHEMAS);
  const requestsFile = join(dataDirectory, 'requests.txt');
  const connection = await measureConnections(stack, observed, options.users, requestsFile);
  const tablesConnected = await readTables(admin, SCHEMAS);
  const reading = await measureReadings(stack, observed, options.users, options.readings);
  const fullPagesPerCall = await measureFullPages(stack, observed, options.users);
  const redisBefore = await readRedisBytes(stack);
  using work = await openWork(stack, requestsFile, options);
  const reads = await measureReads(work, observed, options);
  const redisBytesPerPair = ((await readRedisBytes(stack)) - redisBefore) / options.users;
  const refresh = await observe(observed, () => work.refresh());
  await admin.query(`VACUUM FULL ${UPDATED.join(', ')}`);
  const rows = toGrowth(tablesBefore, await readTables(admin, SCHEMAS));
  const batches = rows['consent.access_batch']?.rows ?? Number.NaN;
  return {
    measuredAt: new Date().toISOString(),
    loads: { before, after: readLoad() },
    machine: `${cpus().length} cores, ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, Postgres ${await readVersion(admin)}`,
    ...reads,
    refresh,
    connection,
    reading,
    readingsPerCall: READINGS_PER_CALL,
    fullPagesPerCall,
    rowsOfConnections: toGrowth(tablesBefore, tablesConnected),
    rows: { ...rows, ...(await measureWebhookRows(stack.adminDatabaseUrl)) },
    recordsPerBatch: (rows['consent.access_record']?.rows ?? Number.NaN) / batches,
    redisBytesPerPair,
    recordDays: consent.shape.RECORD_RETENTION_DAYS.parse(undefined),
    connections: readConnections(),
  };
}

function readLoad(): string {
  return readFileSync('/proc/loadavg', 'utf8').split(' ').slice(0, 3).join(' ');
}

async function readVersion(admin: Observed['admin']): Promise<string> {
  return (await admin.query('SHOW server_version')).rows[0].server_version;
}

/** Two apps: the first one's connections warm up, the second one's are measured, and its tokens read afterwards. */
async function measureConnections(stack: Stack, observed: Observed, people: number, requestsFile: string) {
  console.log(`connecting ${people} people`);
  await connectUsers(stack, WARM_UP_PEOPLE, requestsFile);
  return observe(observed, async () => {
    await connectUsers(stack, people, requestsFile);
    return people;
  });
}

async function measureReadings(stack: Stack, observed: Observed, people: number, readings: number) {
  console.log(`storing ${readings} readings of each`);
  const warm = Math.ceil(people / 10);
  await ingest(stack, 1, warm, readings);
  return observe(observed, () => ingest(stack, warm + 1, people, readings));
}

/** The first change of a page after a checkpoint puts the whole page into the WAL. */
async function measureFullPages(stack: Stack, observed: Observed, people: number): Promise<number> {
  await observed.admin.query('CHECKPOINT');
  const { fullPages } = await observe(observed, async () => {
    await ingest(stack, 1, people, READINGS_PER_CALL, 60_000);
    return people;
  });
  return fullPages;
}

async function measureReads(work: Work, observed: Observed, options: Options) {
  await work.read(WARM_UP_SECONDS);
  console.log('measuring reads');
  const read = await observe(observed, () => work.read(options.seconds));
  const rate = Math.round(read.perSecond / 2);
  const readAtHalfRate = await observe(observed, () => work.readAt(rate, options.seconds));
  return { read, readAtHalfRate };
}

async function readRedisBytes({ redis: { url } }: Stack): Promise<number> {
  if (url === null) throw new Error('Redis is needed');
  return askRedis(url, 'used_memory');
}

/** Of the default settings. */
function readConnections(): Costs['connections'] {
  const of = ({ shape }: { shape: { DATABASE_POOL_SIZE: { parse(value: unknown): number } } }) =>
    shape.DATABASE_POOL_SIZE.parse(undefined);
  const { ACCESS_POOL_SIZE, REVOCATION_POOL_SIZE } = consent.shape;
  // Months, webhooks and the restore guard of authorization have pools of fixed size (connection-pools.ts, service.ts).
  const others = ACCESS_POOL_SIZE.parse(undefined) + REVOCATION_POOL_SIZE.parse(undefined) + 1 + 2;
  return {
    authorization: of(authorization) + 2,
    consent: of(consent) + others,
    'health-data': of(healthData),
  };
}

const ROWS = 20_000;
const MIGRATIONS = resolve(import.meta.dirname, '../../../../services/consent/prisma/migrations');

/** Delivered events with one attempt each, and revoked families and tokens, in a database of their own that is dropped afterwards. */
const FILL = `
  SET search_path = consent;
  INSERT INTO webhook_event (endpoint_id, grant_id, sub_hash, type, content, state, attempts, next_attempt_at)
  SELECT 'whk_' || md5('endpoint'), 'grt_' || md5(n::text), substr(sha256(n::text::bytea), 1, 16), 'grant.revoked',
    '{"revokedBy": "person", "endedAt": "2026-01-02T10:00:00.000Z"}', 'delivered', 1, NULL
  FROM generate_series(1, ${ROWS}) n;
  INSERT INTO webhook_attempt (event_id, at, status, ms) SELECT id, now(), 200, 40 FROM webhook_event;
  INSERT INTO revoked_family (family_id, expires_at)
  SELECT 'fam_' || md5(n::text), now() + n * interval '1 second' FROM generate_series(1, ${ROWS}) n;
  INSERT INTO revoked_token (token_hash, expires_at)
  SELECT sha256(n::text::bytea), now() + n * interval '1 second' FROM generate_series(1, ${ROWS}) n`;

const FILLED = ['webhook_event', 'webhook_attempt', 'revoked_family', 'revoked_token'];

async function measureWebhookRows(adminUrl: string): Promise<Record<string, RowBytes>> {
  const database = 'phds_bench_capacity_rows';
  await using server = await openClient(adminUrl);
  await server.query(`DROP DATABASE IF EXISTS ${database}`);
  const passwords = { owner: 'bench-owner', runtime: 'bench-runtime' };
  const { ownerUrl, schema } = await ensureServiceDatabase({
    adminUrl,
    service: 'consent',
    database,
    passwords,
  });
  try {
    await applyMigrations({ connectionString: ownerUrl, schema, directory: MIGRATIONS });
    await using owner = await openClient(ownerUrl);
    await owner.query(FILL);
    const tables = await readTables(owner, ['consent']);
    const toEach = (name: string): [string, RowBytes] => {
      const { rows, bytes } = tables[`consent.${name}`] ?? { rows: 0, bytes: Number.NaN };
      return [`consent.${name}`, { rows, bytes: bytes / rows }];
    };
    return Object.fromEntries(FILLED.map(toEach));
  } finally {
    await server.query(`DROP DATABASE ${database} WITH (FORCE)`);
  }
}

/** Writes the costs, rounded to four digits. */
function writeCosts(file: string, costs: Costs): void {
  const round = (_: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(4)) : value;
  writeFileSync(file, `${JSON.stringify(costs, round, 2)}\n`);
}
