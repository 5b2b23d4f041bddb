import { describe, expect, test } from '@jest/globals';
import { openPostgres } from '@phds/service-kit/postgres/postgres';
import { toPrismaOptions } from '@phds/service-kit/postgres/prisma';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createPruning } from '../src/pruning.ts';
import { PrismaClient } from '../src/store/generated/client.ts';
import { shareHarness, startHarness } from './harness.ts';

const harness = await shareHarness({}, {}, { PRUNE_INTERVAL_MS: 20 });

const DAY = 86_400_000;

const app = await harness.registerApp();
const client = await harness.connect();

async function countRows(database = client): Promise<Record<string, number>> {
  const tables = ['authorization_request', 'authorization_code', 'token_family', 'access_token'];
  const counts = tables.map((table) => `(SELECT count(*)::int FROM ${table}) AS ${table}`);
  const { rows } = await database.query<Record<string, number>>(`SELECT ${counts.join(', ')}`);
  return rows[0] ?? {};
}

test('rows are deleted once they can no longer matter, and not before', async () => {
  const code = await harness.obtainCode(app, { expiresInDays: 365 });
  const first = await harness.exchange(app, code);
  await harness.refresh(app, first.refreshToken);
  const all = {
    authorization_request: 1,
    authorization_code: 1,
    token_family: 1,
    access_token: 2,
  };
  expect(await countRows()).toEqual(all);
  harness.clock.advance(3 * DAY);
  await eventually(async () => expect(await countRows()).toEqual({ ...all, access_token: 0 }));
  harness.clock.advance(33 * DAY);
  const left = { authorization_request: 0, authorization_code: 0, access_token: 0 };
  await eventually(async () => expect(await countRows()).toEqual({ ...left, token_family: 1 }));
  harness.clock.advance(2 * DAY);
  await eventually(async () => expect(await countRows()).toEqual({ ...left, token_family: 0 }));
});

describe('a batch', () => {
  // Later than the clock of the service, which prunes when it has started.
  const later = new FakeClock();
  later.advance(DAY);
  const expiresAt = new Date(later.now().getTime() - 1);

  /** A pruning for manual calls, with expired rows, and another connection to them. */
  async function openPruning(rows: number) {
    await using stack = new AsyncDisposableStack();
    const quiet = stack.use(await startHarness());
    const { schema, url: connectionString } = quiet.database;
    const limits = { schema, statementTimeoutMs: 20_000, connectTimeoutMs: 20_000 };
    const options = { ...limits, connectionString, poolSize: 1, applicationName: 'test' };
    const { pool } = stack.use(openPostgres(options));
    const prisma = stack.adopt(new PrismaClient(toPrismaOptions(pool, limits)), (it) => it.$disconnect());
    const data = Array.from({ length: rows }, (_, n) => ({ hash: Buffer.from([n]), expiresAt }));
    await prisma.usedJwt.createMany({ data });
    const { used_jwt: prune } = createPruning(prisma, later);
    const owner = await quiet.connect();
    const opened = stack.move();
    return { prune, owner, [Symbol.asyncDispose]: () => opened.disposeAsync() };
  }

  test('has no more rows than its limit', async () => {
    await using pruning = await openPruning(5);
    const { prune } = pruning;
    expect([await prune(2), await prune(2), await prune(2)]).toEqual([2, 2, 1]);
  });

  test('skips locked rows, which a later one deletes', async () => {
    await using pruning = await openPruning(3);
    const { prune, owner } = pruning;
    await owner.query(`BEGIN; SELECT FROM used_jwt WHERE hash = '\\x01' FOR UPDATE`);
    expect(await prune(10)).toBe(2);
    await owner.query('ROLLBACK');
    expect(await prune(10)).toBe(1);
  });
});
