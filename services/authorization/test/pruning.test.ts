import { expect, test } from '@jest/globals';
import { openPostgres } from '@phds/service-kit/postgres/postgres';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createPgPruner } from '../src/store/pg-pruner.ts';
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

/** A pruner for manual calls. Its clock is later than that of the service, which prunes when it has started and must leave the rows. */
async function openPruner() {
  await using stack = new AsyncDisposableStack();
  const quiet = stack.use(await startHarness());
  const owner = await quiet.connect();
  const { url: connectionString, schema } = quiet.database;
  const limits = {
    poolSize: 2,
    statementTimeoutMs: 20_000,
    connectTimeoutMs: 20_000,
    applicationName: 'test',
  };
  const postgres = stack.use(openPostgres({ connectionString, schema, ...limits }));
  const later = new FakeClock();
  later.advance(60 * DAY);
  const pruned = createPgPruner(postgres.pool, later);
  const expired = new Date(later.now().getTime() - 30 * DAY);
  const { clientId } = await quiet.registerApp();
  const opened = stack.move();
  return { owner, pruned, expired, clientId, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

test('no statement deletes more than a batch', async () => {
  await using small = await openPruner();
  const { owner, pruned, expired, clientId } = small;
  await owner.query(
    `INSERT INTO token_family (id, client_id, user_id, grant_id, app_epoch, created_at, expires_at, refresh_hash)
     SELECT n, $1, 'ada', 'grt_1', 1, $2, $2, sha256('') FROM generate_series(1, 5) AS n`,
    [clientId, expired],
  );
  expect([await pruned.token_family(2), await pruned.token_family(2), await pruned.token_family(2)]).toEqual([
    2, 2, 1,
  ]);
});

test('locked rows are skipped and deleted later', async () => {
  await using small = await openPruner();
  const { owner, pruned, expired, clientId } = small;
  await owner.query(
    `INSERT INTO access_token (hash, client_id, scopes, app_epoch, issued_at, expires_at)
     SELECT sha256(n::text::bytea), $1, '{}', 1, $2, $2 FROM generate_series(1, 3) AS n`,
    [clientId, expired],
  );
  await owner.query(`BEGIN; SELECT FROM access_token WHERE hash = sha256('2') FOR UPDATE`);
  expect(await pruned.access_token(10)).toBe(2);
  await owner.query('ROLLBACK');
  expect(await pruned.access_token(10)).toBe(1);
});
