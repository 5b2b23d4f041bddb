import { expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import pg from 'pg';
import {
  currentDeadline,
  Deadline,
  withinDeadline,
  withinLastDeadline,
  withoutDeadline,
} from '../src/current-work.ts';
import { openPostgres } from '../src/postgres/postgres.ts';
import { toPrismaOptions } from '../src/postgres/prisma.ts';
import { PrismaClient } from './fixtures/library/generated/client.ts';
import { createLibraryDatabase } from './library-database.ts';

const database = shared.use(await createLibraryDatabase());
const { url: connectionString, schema } = database;
const limits = { schema, statementTimeoutMs: 60_000, connectTimeoutMs: 60_000 };
const postgres = shared.use(
  openPostgres({ ...limits, connectionString, applicationName: 'deadline-test', poolSize: 1 }),
);
const prisma = new PrismaClient(toPrismaOptions(postgres.pool, limits));
shared.defer(() => prisma.$disconnect());
const admin = new pg.Client({ connectionString: database.adminUrl });
await admin.connect();
shared.defer(() => admin.end());

const GIVEN_UP = { code: 'ETIMEDOUT' };
const LONG_MS = 60_000;
const PID = 'SELECT pg_backend_pid() AS pid';

function ended(): Deadline {
  const deadline = new Deadline(LONG_MS);
  deadline.end();
  return deadline;
}

/** Number of the pool's statements that the server is running. */
async function countRunning(): Promise<number> {
  const { rows } = await admin.query<{ count: number }>(`
    SELECT count(*)::int FROM pg_stat_activity
    WHERE datname = current_database() AND application_name = 'deadline-test' AND state = 'active'`);
  return rows[0]?.count ?? 0;
}

test('the remaining time decreases to zero, and is zero immediately when the caller gives up', () => {
  expect(new Deadline(0).remainingMs()).toBe(0);
  const deadline = new Deadline(LONG_MS);
  expect(deadline.remainingMs()).toBeGreaterThan(LONG_MS / 2);
  deadline.end();
  expect(deadline.remainingMs()).toBe(0);
});

test('no statement starts for a caller that has stopped waiting, while others continue', async () => {
  await withinDeadline(ended(), async () => {
    await expect(postgres.pool.query('SELECT 1')).rejects.toMatchObject(GIVEN_UP);
    await expect(postgres.pool.connect()).rejects.toMatchObject(GIVEN_UP);
    await expect(withoutDeadline(() => postgres.pool.query('SELECT 1'))).resolves.toMatchObject({
      rowCount: 1,
    });
  });
  await expect(withinDeadline(new Deadline(LONG_MS), () => postgres.ping())).resolves.toBeUndefined();
});

test('a running statement ends on the server when its caller gives up', async () => {
  const deadline = new Deadline(LONG_MS);
  const running = withinDeadline(deadline, () => postgres.pool.query('SELECT pg_sleep(60)'));
  const refused = expect(running).rejects.toMatchObject(GIVEN_UP);
  await eventually(async () => (await countRunning()) === 1);
  deadline.end();
  await refused;
  await eventually(async () => (await countRunning()) === 0);
  await postgres.ping();
});

test('a call that waits for a connection has its own deadline, not that of the previous call', async () => {
  const patient = new Deadline(LONG_MS);
  const client = await withinDeadline(patient, () => postgres.pool.connect());
  const waiting = withinDeadline(new Deadline(LONG_MS), () => postgres.pool.query('SELECT 1'));
  patient.end();
  withinDeadline(patient, () => client.release());
  await expect(waiting).resolves.toMatchObject({ rowCount: 1 });
});

test('callers that give up while waiting for a connection leave it open for others', async () => {
  const holder = await postgres.pool.connect();
  const { rows: before } = await holder.query(PID);
  const deadline = new Deadline(LONG_MS);
  const waiting = withinDeadline(deadline, () => [
    postgres.pool.connect().then((client) => client.release()),
    // Prisma sends the query only when its promise is awaited.
    prisma.author.count().then(String),
    prisma.$transaction((tx) => tx.author.count()),
    // Enough to overflow the stack if each released the connection to the next synchronously.
    ...Array.from({ length: 5_000 }, () => postgres.pool.query('SELECT 1')),
  ]);
  const outcomes = Promise.allSettled(waiting);
  await eventually(() => postgres.pool.waitingCount === waiting.length);
  deadline.end();
  holder.release();
  expect((await outcomes).filter(({ status }) => status !== 'rejected')).toEqual([]);
  await expect(waiting[0]).rejects.toMatchObject(GIVEN_UP);
  await expect(waiting.at(-1)).rejects.toMatchObject(GIVEN_UP);
  expect((await postgres.pool.query(PID)).rows).toEqual(before);
});

test('a transaction whose outcome would reach the caller too late is rolled back, and its connection is reused', async () => {
  const client = await postgres.pool.connect();
  await client.query('BEGIN');
  await client.query("INSERT INTO author (id, name) VALUES ('late', 'Late')");
  // Not expired, but too short for a commit and its answer.
  const commit = withinDeadline(new Deadline(99), () => client.query('COMMIT'));
  await expect(commit).rejects.toMatchObject(GIVEN_UP);
  client.release();
  const { rows } = await postgres.pool.query("SELECT FROM author WHERE id = 'late'");
  expect(rows).toEqual([]);
});

test('a Prisma transaction whose caller gave up changes nothing and releases its connection', async () => {
  const deadline = new Deadline(LONG_MS);
  const late = withinDeadline(deadline, () =>
    prisma.$transaction(async (tx) => {
      await tx.author.create({ data: { id: 'late', name: 'Late' } });
      deadline.end();
    }),
  );
  await expect(late).rejects.toThrow();
  expect(await prisma.author.count({ where: { id: 'late' } })).toBe(0);
  await withinDeadline(new Deadline(LONG_MS), () =>
    prisma.$transaction((tx) => tx.author.create({ data: { id: 'in-time', name: 'In time' } })),
  );
  expect(await prisma.author.count({ where: { id: 'in-time' } })).toBe(1);
});

test('work for several calls goes on until the last gives up, however often another one is ended', async () => {
  const [early, last] = [new Deadline(LONG_MS), new Deadline(LONG_MS)];
  const left = await withinLastDeadline([early, last], async () => {
    const timesLeft: boolean[] = [];
    for (const deadline of [early, early, last]) {
      deadline.end();
      timesLeft.push((currentDeadline()?.remainingMs() ?? 0) > 0);
    }
    return timesLeft;
  });
  expect(left).toEqual([true, true, false]);
});
