import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Harness, TestApp } from './harness.ts';
import { HEART, REDIRECT_URI, reasonOf, refusalOf, startHarness } from './harness.ts';

let harness: Harness;
let app: TestApp;
let owner: pg.Client;

beforeAll(async () => {
  harness = await startHarness();
  owner = new pg.Client({ connectionString: harness.database.ownerUrl });
  await owner.connect();
});
beforeEach(async () => {
  app = await harness.registerApp();
});
afterAll(async () => {
  await owner.end();
  await harness[Symbol.asyncDispose]();
});

const open = (request: { client?: TestApp; purpose?: string } = {}) =>
  harness.authorizations.openAuthorization({
    client: { clientId: app.clientId },
    redirectUri: REDIRECT_URI,
    scope: HEART,
    ...request,
  });

async function countRequests(): Promise<number> {
  const table = `"${harness.database.schema}".authorization_request`;
  const { rows } = await owner.query(`SELECT FROM ${table} WHERE client_id = $1`, [app.clientId]);
  return rows.length;
}

test.each([
  ['rate_limited', 'rate_limited'],
  ['app_not_active', 'unauthorized'],
] as const)('a request that the consent service refuses leaves nothing: %s', async (refusal, answer) => {
  harness.consent.refused.set('openPendingApproval', refusal);
  expect(await reasonOf(open())).toBe(answer);
  harness.consent.refused.clear();
  expect(await countRequests()).toBe(0);
});

test('a request is kept while it is unknown whether its approval was opened', async () => {
  harness.consent.lost.add('openPendingApproval');
  expect(await reasonOf(open())).toBe('unavailable');
  harness.consent.lost.clear();
  expect(await countRequests()).toBe(1);
});

test('a request is removed when consent removed its approval for another one', async () => {
  const { pendingId } = await open();
  const before = await countRequests();
  harness.consent.removed = [pendingId];
  await open();
  harness.consent.removed = [];
  expect(await countRequests()).toBe(before);
});

/** Deletions of requests fail while `work` runs. */
async function whileDeletionsFail(work: () => Promise<void>): Promise<void> {
  await owner.query(`SET search_path = "${harness.database.schema}";
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'out of order'; END $$;
    CREATE TRIGGER fail BEFORE DELETE ON authorization_request FOR EACH ROW EXECUTE FUNCTION fail()`);
  try {
    await work();
  } finally {
    await owner.query('DROP FUNCTION fail() CASCADE');
  }
}

test('an opened approval is returned even if requests of removed approvals cannot be deleted, and the failure is logged', async () => {
  harness.consent.removed = [(await open()).pendingId];
  await whileDeletionsFail(async () => {
    const { requestUri } = await open();
    expect(requestUri).not.toBe('');
  });
  harness.consent.removed = [];
  expect(harness.logged()).toContain('deleting requests without an approval failed');
});

test.each(['x'.repeat(501), 'a\nb', 'a\u202Eb'])(
  'an invalid purpose refuses a request with the secret; without the secret, the purpose is neither stored nor checked: %j',
  async (purpose) => {
    const refusal = await refusalOf(open({ client: app, purpose }));
    expect(refusal.violations.map((violation) => violation.parameter)).toEqual(['purpose']);
    const { pendingId } = await open({ purpose });
    expect(harness.consent.pending.get(pendingId)?.request.purpose).toBe('');
  },
);

test('an error of consent is returned even if its request cannot be deleted', async () => {
  harness.consent.refused.set('openPendingApproval', 'rate_limited');
  await whileDeletionsFail(async () => expect(await reasonOf(open())).toBe('rate_limited'));
  harness.consent.refused.clear();
});
