import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { expect } from '@jest/globals';
import { CHECKPOINT_TYPE, readCheckpointContent } from '@phds/record-chain/checkpoint';
import type { Clock } from '@phds/service-kit/clock';
import { KEY_LOOK_UPS, openPostgres } from '@phds/service-kit/postgres/postgres';
import { createTestDatabase } from '@phds/test-kit/databases';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { openTestPool } from '@phds/test-kit/test-pool';
import type pg from 'pg';
import { type CheckpointTable, createCheckpoints, createCheckpointTable } from '../src/access/checkpoints.ts';
import { countNext } from '../src/access/counts.ts';
import { createAccessRecorder } from '../src/access/record.ts';
import { createAccessStatements } from '../src/access/statements.ts';
import { createJoseSigner, type Signer } from '../src/jose-signer.ts';
import { connectAsSuperuser } from './database-clients.ts';
import { accessOf } from './running-service.ts';

export type DatedRecorder = ReturnType<typeof startDatedRecorder>;

// No service has started on the database, so there is nothing to compare with.
const guard = {
  remembered: [null, 0] as const,
  verified: <T>(operation: () => Promise<T>) => operation(),
};

/** The hot path without the service: a recorder with a chain of its own on that database, which may date records as it likes unless an option says otherwise. */
export function startDatedRecorder(
  databaseUrl: string,
  clock: Clock,
  clockToleranceMs = Number.POSITIVE_INFINITY,
) {
  const database = openPostgres({
    connectionString: databaseUrl,
    schema: 'consent',
    poolSize: 4,
    statementTimeoutMs: 20_000,
    connectTimeoutMs: 20_000,
    applicationName: 'phds-test-recorder',
    settings: KEY_LOOK_UPS,
  });
  const { pool } = database;
  const recorder = createAccessRecorder({
    statements: createAccessStatements(pool, { clockToleranceMs, guard }),
    clock,
    maxBatch: 500,
    maxQueued: 10_000,
    maxWaitMs: 30_000,
    maxGrants: 100,
  });
  return {
    recorder,
    /** Counts as the service does periodically. Returns the number of batches. */
    count: () => countNext(pool, 200),
    async [Symbol.asyncDispose]() {
      await recorder[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
    },
  };
}

/** One interval that contains every time since 1970, so no test depends on when it runs. */
const INTERVAL_MS = 1e15;

/** Records and checkpoints without the service, so that a test can set the time. */
export type DatedRecords = Awaited<ReturnType<typeof startDatedRecords>>;

export async function startDatedRecords(start: string, retentionDays = 90) {
  await using resources = new AsyncDisposableStack();
  const database = resources.use(await createTestDatabase('consent'));
  const opened = resources.use(
    openPostgres({
      connectionString: database.url,
      schema: 'consent',
      poolSize: 4,
      statementTimeoutMs: 20_000,
      connectTimeoutMs: 20_000,
      applicationName: 'phds-test-checkpoints',
    }),
  );
  const owner = resources.adopt(
    openTestPool(database.ownerUrl, { max: 2, options: '-c search_path=consent' }),
    (pool) => pool.end(),
  );
  const admin = resources.adopt(await connectAsSuperuser(database), (client) => client.end());
  const { privateKey } = generateKeyPairSync('ed25519');
  const clock = new FakeClock(start);
  const signer = await createJoseSigner(
    privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    CHECKPOINT_TYPE,
  );
  const stored = createCheckpointTable(opened.pool);
  const table: CheckpointTable = {
    ...stored,
    async add(number, jws) {
      const isAdded = await stored.add(number, jws);
      const date = 'UPDATE consent_audit.access_checkpoint SET at = $1 WHERE number = $2';
      if (isAdded) await admin.query(date, [clock.now(), number]);
      return isAdded;
    },
  };
  const createInstance = (parts: { signer?: Signer; table?: CheckpointTable } = {}) =>
    createCheckpoints({
      table: parts.table ?? table,
      signer: parts.signer ?? signer,
      clock,
      retentionDays,
      intervalMs: INTERVAL_MS,
      onSigned: () => undefined,
    });
  const running = resources.move();
  const recorders = new Map<string, ReturnType<typeof startDatedRecorder>>();
  const openChain = (name: string) => {
    const recorder = recorders.get(name) ?? running.use(startDatedRecorder(database.url, clock));
    recorders.set(name, recorder);
    return recorder;
  };
  return {
    database,
    receiptPublicKey: createPublicKey(privateKey),
    clock,
    signer,
    table,
    /** A superuser, not limited by triggers or privileges. */
    admin,
    owner,
    checkpoints: createInstance(),
    /** Another instance, with replaced parts. */
    createInstance,
    /** Records an access in a new chain, or in the given one. */
    async record(chain = 'one') {
      const access = accessOf({ grantId: 'grt_1', clientId: 'app_1', userId: 'ada' });
      await openChain(chain).recorder.record([access]);
    },
    /** Simulates the end of the last checkpoint's interval. */
    async endInterval() {
      await admin.query(`UPDATE consent_audit.access_checkpoint SET at = '1969-06-01'`);
    },
    async stored() {
      const { rows } = await admin.query<{ jws: string }>(
        'SELECT jws FROM consent_audit.access_checkpoint ORDER BY number',
      );
      return rows.map(({ jws }) => readCheckpointContent(jws));
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Creates the partitions of a past month (`2024_02`), as if the service had run then. */
export async function makeMonth(owner: pg.Pool, month: string): Promise<void> {
  const start = `${month.replace('_', '-')}-01 00:00:00Z`;
  const { rows } = await owner.query(`SELECT ($1::timestamptz + interval '1 month')::text AS end`, [start]);
  const { end } = rows[0];
  await owner.query(
    `CREATE TABLE access_batch_${month} PARTITION OF access_batch FOR VALUES FROM ('${start}') TO ('${end}')`,
  );
  const ids = await owner.query(
    'SELECT first_id_of($1::timestamptz) AS a, first_id_of($2::timestamptz) AS b',
    [start, end],
  );
  await owner.query(
    `CREATE TABLE access_record_${month} PARTITION OF access_record FOR VALUES FROM ('${ids.rows[0].a}') TO ('${ids.rows[0].b}')`,
  );
  for (const table of ['access_batch', 'access_record']) {
    await owner.query(`SELECT make_append_only('${table}_${month}', '')`);
  }
}

/** Names of the partitions of a table, without the default partition. */
export async function partitionsOf(owner: pg.Pool, table: string): Promise<string[]> {
  const { rows } = await owner.query(
    `SELECT replace(inhrelid::regclass::text, $1 || '_', '') AS name FROM pg_inherits WHERE inhparent = $1::regclass`,
    [table],
  );
  return rows.map((row) => row.name).sort();
}

/** The month (`2026_03`) this many months from now. */
export async function monthAway(owner: pg.Pool, months: number): Promise<string> {
  const { rows } = await owner.query(
    `SELECT to_char(date_trunc('month', now() AT TIME ZONE 'UTC') + make_interval(months => $1), 'YYYY_MM') AS month`,
    [months],
  );
  return rows[0].month;
}

/** Expects app_day to have the sums of access_day. */
export async function expectAppDays(owner: pg.Pool): Promise<void> {
  const { rows } = await owner.query(
    `SELECT * FROM app_day FULL JOIN (
       SELECT client_id, day, endpoint, sum(recorded) AS all_recorded, sum(refused) AS all_refused FROM access_day GROUP BY 1, 2, 3
     ) counted USING (client_id, day, endpoint)
     WHERE (recorded, refused) IS DISTINCT FROM (all_recorded, all_refused)`,
  );
  expect(rows).toEqual([]);
}
