import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '@phds/test-kit/conditions';
import pg from 'pg';
import type { Harness, TestApp } from './harness.ts';
import { startHarness } from './harness.ts';

const DAY = 86_400_000;

let harness: Harness;
let app: TestApp;
let client: pg.Client;

beforeAll(async () => {
  harness = await startHarness({ PRUNE_INTERVAL_MS: '20' });
  app = await harness.registerApp();
  client = new pg.Client({ connectionString: harness.database.ownerUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await harness[Symbol.asyncDispose]();
});

async function countRows(): Promise<Record<string, number>> {
  const tables = [
    'authorization_request',
    'authorization_code',
    'token_family',
    'refresh_token',
    'access_token',
  ];
  const counts = tables.map(
    (table) => `(SELECT count(*)::int FROM "${harness.database.schema}".${table}) AS ${table}`,
  );
  const { rows } = await client.query<Record<string, number>>(`SELECT ${counts.join(', ')}`);
  return rows[0] ?? {};
}

test('rows go when nobody can ask about them any more, and not before', async () => {
  const code = await harness.obtainCode(app, { expiresInDays: 365 });
  const first = await harness.exchange(app, code);
  await harness.refresh(app, first.refreshToken);
  const all = {
    authorization_request: 1,
    authorization_code: 1,
    token_family: 1,
    refresh_token: 2,
    access_token: 2,
  };
  expect(await countRows()).toEqual(all);
  harness.clock.advance(3 * DAY);
  await eventually(async () => expect(await countRows()).toEqual({ ...all, access_token: 0 }));
  harness.clock.advance(33 * DAY);
  const family = { token_family: 1, refresh_token: 2 };
  const left = { authorization_request: 0, authorization_code: 0, access_token: 0 };
  await eventually(async () => expect(await countRows()).toEqual({ ...left, ...family }));
  harness.clock.advance(2 * DAY);
  await eventually(async () =>
    expect(await countRows()).toEqual({ ...left, token_family: 0, refresh_token: 0 }),
  );
});
