import { resolve } from 'node:path';
import { applyMigrations } from '@phds/database/migrations';
import { withScratchDatabase } from '@phds/local-servers/scratch-database';
import { createLogger } from '@phds/service-kit/log';
import type pg from 'pg';
import type { AccessCountStore } from '../../../services/consent/src/app/access-ports.ts';
import { latestDays } from '../../../services/consent/src/domain/local-days.ts';
import { openConnectionPools } from '../../../services/consent/src/store/connection-pools.ts';
import type { PrismaClient } from '../../../services/consent/src/store/generated/client.ts';
import { createPgAccessCounts } from '../../../services/consent/src/store/pg-access-counts.ts';
import { createPrismaAccessHistory } from '../../../services/consent/src/store/prisma-access-history.ts';
import { createPrismaGrants } from '../../../services/consent/src/store/prisma-grants.ts';
import { cpuSeconds } from './cpu.ts';
import type { Options } from './options.ts';

const MIGRATIONS = resolve(import.meta.dirname, '../../../services/consent/prisma/migrations');
const QUARTER_MS = 900_000;
const QUARTERS_A_DAY = 96;
const DAYS_KEPT = 366;
const RECORDS_A_BATCH = 30;
const READS = 20;
const NO_FILTER = { grantId: null, clientId: null, scope: null };
const BUSY = 'busy';
const ZONE = 'Asia/Kathmandu';

/**
 * Measures counting the access records and reading the counts, in a temporary database. `users` people have one record in every
 * quarter hour of a day, each quarter hour counted by one run. One person has an app that reads five scopes in every quarter hour of
 * 366 days, the most rows and the fullest arrays that there can be for one app.
 */
export async function benchCounts({ users }: Options): Promise<string> {
  return withScratchDatabase('consent', async ({ ownerUrl, schema }) => {
    await applyMigrations({ connectionString: ownerUrl, schema, directory: MIGRATIONS });
    await using pools = await openConnectionPools(
      {
        DATABASE_URL: ownerUrl,
        DATABASE_CONNECT_TIMEOUT_MS: 5_000,
        DATABASE_STATEMENT_TIMEOUT_MS: 300_000,
        // One connection, whose CPU is measured.
        DATABASE_POOL_SIZE: 1,
        ACCESS_POOL_SIZE: 1,
        REVOCATION_POOL_SIZE: 1,
      },
      createLogger({ service: 'bench', level: 'silent' }),
    );
    const { pool } = pools.access;
    const lines = await measureWriting(pool, users);
    await fillBusyPerson(pool);
    await pool.query('VACUUM ANALYZE access_day');
    lines.push(`the busy person: ${await sizeOfCounts(pool, `user_ref = '${refOf(0)}'`)}`);
    return [...lines, ...(await measureReading(pools.ordinary))].join('\n');
  });
}

/** Each quarter hour of a day: one record of each person, counted in one run. */
async function measureWriting(pool: pg.Pool, users: number): Promise<string[]> {
  const counter = createPgAccessCounts(pool);
  const cpu = await cpuOf(async (statement) => (await pool.query(statement)).rows);
  const midnight = Math.floor(Date.now() / 86_400_000) * 86_400_000;
  const runs: number[] = [];
  for (let quarter = 0; quarter < QUARTERS_A_DAY; quarter += 1) {
    await addRecords(pool, midnight + quarter * QUARTER_MS, users);
    if (quarter % 10 === 0) await pool.query('VACUUM ANALYZE access_day');
    const before = cpu();
    await countAll(counter);
    runs.push(cpu() - before);
  }
  const [first = 0, ...later] = runs;
  const perRecord = (seconds: number) => `${((seconds * 1e6) / users).toFixed(0)} µs`;
  return [
    `counting one record of each of ${users} people, CPU of Postgres for a record:`,
    `the first of a day ${perRecord(first)}, later ${perRecord(later.reduce((sum, run) => sum + run, 0) / later.length)}`,
    `rows after the day: ${await sizeOfCounts(pool, 'true')}`,
  ];
}

async function countAll(counter: AccessCountStore): Promise<void> {
  while ((await counter.countNext(1_000)) > 0);
}

/** One record of each person at a time, in uncounted batches. The statement that counts reads nothing else. */
async function addRecords(pool: pg.Pool, at: number, users: number): Promise<void> {
  await pool.query(
    `WITH record AS (
       SELECT n, n / $2 AS batch, $1::bigint + n / $2 AS ms, gen_random_uuid() AS random FROM generate_series(1, $3) n
     ), inserted AS (
       INSERT INTO access_record (id, writer, seq, ordinal, at, user_ref, client_id, grant_id, scope, endpoint, window_from,
         window_to, page, record_count, request_id)
       SELECT overlay(random::text PLACING left(first_id_of(to_timestamp(ms / 1000.0))::text, 13) FROM 1 FOR 13)::uuid,
         '${refOf(1)}', $1::bigint + batch, n, to_timestamp(ms / 1000.0), ('00000000-0000-4000-9000-' || lpad(n::text, 12, '0'))::uuid,
         'app_' || n % 20, 'grt_' || lpad(n::text, 22, '0'), 'read:health-data:heart', '/api/v1/health-data/heart', '', '', 1, 20,
         'req_1'
       FROM record
     )
     INSERT INTO access_uncounted (writer, seq, at)
     SELECT DISTINCT '${refOf(1)}'::uuid, $1::bigint + batch, to_timestamp(ms / 1000.0) FROM record`,
    [at, RECORDS_A_BATCH, users],
  );
}

/** The counts that a year of reads leaves. */
async function fillBusyPerson(pool: pg.Pool): Promise<void> {
  await pool.query(`
    INSERT INTO person (user_id, user_ref) VALUES ('${BUSY}', '${refOf(0)}');
    INSERT INTO app (client_id, owner_id, name, homepage_url, privacy_policy_url, logo_url)
      VALUES ('app_busy', 'developer', 'Busy', '', '', '');
    INSERT INTO consent_grant (id, user_id, user_ref, client_id, app_epoch, scopes, granted_at, expires_at)
      VALUES ('grt_busy', '${BUSY}', '${refOf(0)}', 'app_busy', 1, '{read:mood}', now() - interval '1 year', now() + interval '1 year');
    INSERT INTO access_day (user_ref, grant_id, day, client_id, scope, endpoint, recorded, refused, last_at,
        recorded_by_quarter)
      SELECT '${refOf(0)}', 'grt_busy', current_date - n, 'app_busy', 'read:scope-' || scope, '/api/v1/scope-' || scope, 96 * 3, 0,
        now() - n * interval '1 day', array_fill(3, ARRAY[${QUARTERS_A_DAY}])
      FROM generate_series(0, ${DAYS_KEPT - 1}) n, generate_series(1, 5) scope`);
}

async function measureReading(prisma: PrismaClient): Promise<string[]> {
  const history = createPrismaAccessHistory(prisma);
  const grants = createPrismaGrants(prisma);
  const cpu = await cpuOf((statement) => prisma.$queryRawUnsafe(statement));
  const costOf = async (read: () => Promise<unknown>) => {
    await read();
    const before = cpu();
    for (let round = 0; round < READS; round += 1) await read();
    return `${(((cpu() - before) * 1_000) / READS).toFixed(1)} ms`;
  };
  const lines = ['reading the counts of the busy person, CPU of Postgres:'];
  for (const count of [30, DAYS_KEPT]) {
    const { from, to } = latestDays(count, new Date(), 'UTC');
    const utc = await costOf(() => history.days(BUSY, NO_FILTER, { from, to }));
    const local = await costOf(() => history.localDays(BUSY, NO_FILTER, latestDays(count, new Date(), ZONE)));
    lines.push(`${count} days: of UTC ${utc}, of ${ZONE} ${local}`);
  }
  lines.push(
    `grants with their counts: ${await costOf(() => grants.list(BUSY, null, { page: 1, pageSize: 20 }))}`,
  );
  return lines;
}

async function sizeOfCounts(pool: pg.Pool, where: string): Promise<string> {
  const { rows } = await pool.query(
    `SELECT count(*)::int AS rows, avg(pg_column_size(d))::int AS bytes FROM access_day d WHERE ${where}`,
  );
  return `${rows[0].rows} rows of ${rows[0].bytes} bytes`;
}

/** The CPU seconds that the connection's own process in Postgres has used so far. */
async function cpuOf(query: (statement: string) => Promise<{ pid: number }[]>): Promise<() => number> {
  const [backend] = await query('SELECT pg_backend_pid() AS pid');
  return () => cpuSeconds(backend?.pid ?? 0);
}

function refOf(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
}
