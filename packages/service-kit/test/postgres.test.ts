import { mkdir, mkdtempDisposable, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, jest, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import { startTcpProxy } from '@phds/test-kit/tcp-proxy';
import type pg from 'pg';
import { AppError } from '../src/errors.ts';
import { translateDatabaseError } from '../src/postgres/errors.ts';
import {
  expectAnswers,
  inTransaction,
  openPostgres,
  type Postgres,
  type PostgresOptions,
} from '../src/postgres/postgres.ts';
import { toPrismaOptions } from '../src/postgres/prisma.ts';
import { ConfigError } from '../src/settings/config.ts';
import { PrismaClient } from './fixtures/library/generated/client.ts';
import { createLibraryDatabase } from './library-database.ts';

type Limits = Partial<
  Pick<PostgresOptions, 'poolSize' | 'statementTimeoutMs' | 'connectTimeoutMs' | 'migrations'>
>;

// Long by default, so that nothing fails for lack of time on a busy machine; a test of one limit shortens that one.
const LIMITS = { poolSize: 2, statementTimeoutMs: 20_000, connectTimeoutMs: 20_000 };
const SHORT_MS = 500;

function open(connectionString: string, limits: Limits = {}): Postgres {
  return openPostgres({
    connectionString,
    schema: database.schema,
    applicationName: 'postgres-test',
    ...LIMITS,
    ...limits,
  });
}

function connectPrisma({ pool }: Postgres, limits: Limits = {}): PrismaClient {
  return new PrismaClient(toPrismaOptions(pool, { schema: database.schema, ...LIMITS, ...limits }));
}

async function rejection(promise: PromiseLike<unknown>): Promise<unknown> {
  return promise.then(
    () => expect(null).toBe('a rejection'),
    (error: unknown) => error,
  );
}

const database = shared.use(await createLibraryDatabase());
const postgres = shared.use(open(database.url));
const prisma = connectPrisma(postgres);
shared.defer(() => prisma.$disconnect());

describe('one pool', () => {
  test("serves Prisma and prepared pg queries, both in the service's schema", async () => {
    await prisma.author.create({ data: { id: 'a1', name: 'Ada' } });
    const query = { name: 'author-by-id', text: 'SELECT name FROM author WHERE id = $1', values: ['a1'] };
    expect((await postgres.pool.query(query)).rows).toEqual([{ name: 'Ada' }]);
  });

  test('stays open when the Prisma client disconnects, and closes on disposal, also when disposed twice', async () => {
    const own = open(database.url);
    const client = connectPrisma(own);
    await client.author.count();
    await client.$disconnect();
    await own.ping();
    await own[Symbol.asyncDispose]();
    await own[Symbol.asyncDispose]();
    await expect(own.ping()).rejects.toThrow();
  });
});

describe('transactions read what others have committed in the meantime', () => {
  const SHOW = 'SHOW transaction_isolation';

  test('with any default isolation of database and role, by pg and by Prisma', async () => {
    await using admin = open(database.adminUrl, { poolSize: 1 });
    const name = (await admin.pool.query('SELECT current_database() AS name')).rows[0].name;
    const role = new URL(database.url).username;
    const level = 'SET default_transaction_isolation';
    await admin.pool.query(`ALTER DATABASE ${name} ${level} = 'serializable'`);
    await admin.pool.query(`ALTER ROLE ${role} IN DATABASE ${name} ${level} = 'repeatable read'`);
    await using own = open(database.url);
    const client = connectPrisma(own);
    const committed = [{ transaction_isolation: 'read committed' }];
    expect((await own.pool.query(SHOW)).rows).toEqual(committed);
    expect(await client.$queryRawUnsafe(SHOW)).toEqual(committed);
    expect(await client.$transaction((tx) => tx.$queryRawUnsafe(SHOW))).toEqual(committed);
    await client.$disconnect();
  });

  test('a connection string cannot override this or other settings of a connection', () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c default_transaction_isolation=serializable');
    expect(() => open(url.href)).toThrow(/must not have the parameter options/);
  });
});

describe('a transaction', () => {
  const pidOf = async (pool: Postgres['pool']) =>
    (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid;
  const insert = (client: pg.ClientBase, id: string) =>
    client.query('INSERT INTO author (id, name) VALUES ($1, $2)', [id, id]);

  test.each<[string, string, number | undefined, RegExp]>([
    ['that fails', 'failed', undefined, /refused/],
    ['that takes longer than its limit', 'late', 0, /stopped waiting/],
  ])('%s changes nothing, and its connection is used again', async (_, id, limitMs, error) => {
    await using own = open(database.url, { poolSize: 1 });
    const pid = await pidOf(own.pool);
    const use = async (client: pg.ClientBase) => {
      await insert(client, id);
      if (limitMs === undefined) throw new Error('refused');
    };
    await expect(inTransaction(own.pool, use, limitMs)).rejects.toThrow(error);
    expect((await own.pool.query('SELECT id FROM author WHERE id = $1', [id])).rows).toEqual([]);
    expect(await pidOf(own.pool)).toBe(pid);
  });
});

describe('a unique violation', () => {
  const author = { id: 'taken', name: 'T' };
  beforeAll(() => prisma.author.create({ data: author }).then());

  test.each([
    ['Prisma', () => prisma.author.create({ data: author })],
    ['raw SQL of Prisma', () => prisma.$executeRaw`INSERT INTO author VALUES ('taken', 'T')`],
    ['pg', () => postgres.pool.query("INSERT INTO author VALUES ('taken', 'T')")],
  ])('reported by %s is an internal error, not an unavailable database', async (_name, insert) => {
    expect(translateDatabaseError(await rejection(insert())).reason).toBe('internal');
  });
});

describe('a database that cannot answer causes `unavailable` within the time limit', () => {
  const reasonOf = async (promise: PromiseLike<unknown>) =>
    translateDatabaseError(await rejection(promise)).reason;

  test('when it is down, and works again when it is back', async () => {
    await using proxy = await startTcpProxy(database.url);
    await using own = open(proxy.url);
    const client = connectPrisma(own);
    await client.author.count();
    await proxy.cut();
    expect(await reasonOf(client.author.count())).toBe('unavailable');
    expect(await reasonOf(client.$transaction(async (tx) => tx.author.count()))).toBe('unavailable');
    expect(await reasonOf(own.pool.query('SELECT 1'))).toBe('unavailable');
    await proxy.restore();
    expect(await client.author.count()).toBeGreaterThan(0);
    await client.$disconnect();
  });

  test('when the network drops all packets, even on a connection that had a longer limit before', async () => {
    await using proxy = await startTcpProxy(database.url);
    await using own = open(proxy.url, { poolSize: 1, statementTimeoutMs: SHORT_MS });
    const client = await own.pool.connect();
    expectAnswers(client, 10_000);
    await client.query(
      'BEGIN; SET LOCAL statement_timeout = 10000; SET LOCAL idle_in_transaction_session_timeout = 10000',
    );
    await client.query('SELECT pg_sleep(1.6)');
    await client.query('COMMIT');
    client.release();
    proxy.set({ kind: 'hold' });
    expect(await reasonOf(own.pool.query('SELECT 1'))).toBe('unavailable');
    proxy.set({ kind: 'pass' });
    await eventually(() => own.ping());
  });

  test('when it refuses the login', async () => {
    const url = new URL(database.url);
    url.password = 'another';
    await using own = open(url.href);
    const client = connectPrisma(own);
    expect(await reasonOf(own.pool.query('SELECT 1'))).toBe('unavailable');
    expect(await reasonOf(client.author.count())).toBe('unavailable');
    expect(translateDatabaseError(Object.assign(new Error('locked out'), { code: '28000' })).reason).toBe(
      'unavailable',
    );
    await client.$disconnect();
  });

  test('when a statement takes too long', async () => {
    await using own = open(database.url, { statementTimeoutMs: SHORT_MS });
    const client = connectPrisma(own, { statementTimeoutMs: SHORT_MS });
    expect(await reasonOf(own.pool.query('SELECT pg_sleep(5)'))).toBe('unavailable');
    expect(await reasonOf(client.$queryRaw`SELECT pg_sleep(5)::text`)).toBe('unavailable');
    await client.$disconnect();
  });

  test('when every connection of the pool is in use', async () => {
    await using own = open(database.url, { poolSize: 1, connectTimeoutMs: SHORT_MS });
    const client = await eventually(() => own.pool.connect());
    expect(await reasonOf(own.pool.query('SELECT 1'))).toBe('unavailable');
    client.release();
  });

  test('when a connection is lost while in use, busy or between two statements', async () => {
    await using proxy = await startTcpProxy(database.url);
    await using own = open(proxy.url);
    const busy = await own.pool.connect();
    const between = await own.pool.connect();
    await between.query('BEGIN');
    const sleeping = rejection(busy.query('SELECT pg_sleep(60)'));
    await proxy.cut();
    expect(translateDatabaseError(await sleeping).reason).toBe('unavailable');
    expect(await reasonOf(between.query('COMMIT'))).toBe('unavailable');
    busy.release();
    between.release();
    await proxy.restore();
    await own.ping();
  });

  test('when an administrator terminates the session, idle or busy', async () => {
    await using own = open(database.url, { poolSize: 1 });
    await using admin = open(database.adminUrl, { poolSize: 1 });
    const end = (target: number) => admin.pool.query('SELECT pg_terminate_backend($1)', [target]);
    const busy = await own.pool.connect();
    const sleeping = rejection(busy.query('SELECT pg_sleep(60)'));
    await end((busy as unknown as { processID: number }).processID);
    expect(translateDatabaseError(await sleeping).reason).toBe('unavailable');
    busy.release(true);

    await end((await own.pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid);
    await eventually(() => own.ping());
  });
});

describe('translateDatabaseError', () => {
  test('returns an AppError unchanged', () => {
    const error = new AppError('not_found');
    expect(translateDatabaseError(error)).toBe(error);
  });

  test('converts unknown errors to internal, without their text', () => {
    const translated = translateDatabaseError(new Error('row 42 of Ada'));
    expect(translated).toMatchObject({ reason: 'internal', message: '' });
  });

  test.each([
    [{ code: '53300' }],
    [{ code: '53100' }],
    [{ code: '40P01' }],
    [{ code: '08006' }],
    [new AggregateError([Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })], 'all refused')],
    [{ code: 'P2028' }],
  ])('maps %j to unavailable', (error) => {
    expect(translateDatabaseError(error).reason).toBe('unavailable');
  });
});

test("a transaction waits for its connection as long as the pool does, not as Prisma's own limit", async () => {
  const limits = { statementTimeoutMs: 30_000, connectTimeoutMs: 30_000 };
  await using own = open(database.url, { ...limits, poolSize: 1 });
  const client = connectPrisma(own, limits);
  await client.author.count();
  const connection = await own.pool.connect();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  try {
    const counts = client.$transaction([client.author.count(), client.author.count()]);
    const outcome = counts.then(
      () => 'counted',
      (error: Error) => error.message,
    );
    while (own.pool.waitingCount === 0) await new Promise<void>((resolve) => setImmediate(resolve));
    jest.advanceTimersByTime(20_000);
    connection.release();
    expect(await outcome).toBe('counted');
  } finally {
    jest.useRealTimers();
  }
  await client.$disconnect();
});

describe('a connection that no retry can make', () => {
  const failureOf = async (change: Partial<URL>) => {
    await using workspace = await mkdtempDisposable(join(tmpdir(), 'phds-migrations-'));
    await mkdir(join(workspace.path, '0001_init'));
    const url = Object.assign(new URL(database.url), change);
    await using own = open(url.href, { migrations: workspace.path });
    const failure = await rejection(own.ping());
    if (!(failure instanceof ConfigError)) throw failure;
    return failure;
  };

  test.each([
    ['password', false, { password: 'not-the-password' }],
    ['database', false, { pathname: '/nowhere' }],
    ['host name', true, { hostname: 'nowhere.invalid' }],
  ])('names DATABASE_URL and the %s, without a secret', async (what, mayHeal, change) => {
    const failure = await failureOf(change);
    expect(failure).toMatchObject({ mayHeal, problems: [{ setting: 'DATABASE_URL' }] });
    expect(failure.problems[0]?.reason).toContain(what);
    expect(`${failure} ${failure.cause}`).not.toContain('not-the-password');
  });
});

test('a service is ready only with the newest migration of its release, and names the missing one', async () => {
  await using workspace = await mkdtempDisposable(join(tmpdir(), 'phds-migrations-'));
  const migrations = workspace.path;
  for (const name of ['0001_init', '0002_rules']) await mkdir(join(migrations, name));
  await writeFile(join(migrations, 'migration_lock.toml'), '');
  await using current = open(database.url, { migrations });
  await current.ping();
  await mkdir(join(migrations, '0003_shelves'));
  await using tooNew = open(database.url, { migrations });
  await expect(tooNew.ping()).rejects.toThrow('the database lacks the migration 0003_shelves');
});
