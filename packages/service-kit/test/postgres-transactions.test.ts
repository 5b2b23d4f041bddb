import { expect, jest, test } from '@jest/globals';
import { openPostgres } from '../src/postgres/postgres.ts';
import { PrismaClient } from './fixtures/library/generated/client.ts';
import { createLibraryDatabase } from './library-database.ts';

test("a transaction waits for its connection as long as the pool does, not as Prisma's own limit", async () => {
  await using database = await createLibraryDatabase();
  await using own = openPostgres({
    connectionString: database.url,
    schema: database.schema,
    applicationName: 'postgres-transactions-test',
    poolSize: 1,
    statementTimeoutMs: 30_000,
    connectTimeoutMs: 30_000,
  });
  const client = new PrismaClient(own.prisma);
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
