import { afterEach, describe, expect, test } from '@jest/globals';
import { Deadline, withinDeadline } from '@phds/service-kit/current-work';
import { openPostgres } from '@phds/service-kit/postgres/postgres';
import { toPrismaOptions } from '@phds/service-kit/postgres/prisma';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import { createAppStore } from '../src/app.ts';
import { createAuthorizationStore } from '../src/authorization-request.ts';
import { createDevelopers } from '../src/developers.ts';
import { PrismaClient } from '../src/store/generated/client.ts';
import { REDIRECT_URI, reasonOf, shareHarness, startHarness } from './harness.ts';

const harness = await shareHarness();

const app = await harness.registerApp();
const admin = await harness.connect('admin');
let release: () => unknown = () => undefined;

// Enough for everything before the slow dependency, even on a busy machine.
const PATIENCE_MS = 1_000;

afterEach(async () => {
  await release();
  release = () => undefined;
  harness.consent.onCheckLiveness = () => Promise.resolve();
});

/** Consent judges, but does not respond before `release`. */
function slowConsent(): void {
  const { promise, resolve } = Promise.withResolvers<void>();
  harness.consent.onCheckLiveness = () => promise;
  release = resolve;
}

/** Calls with a short deadline and returns the reason of the error, once the service has finished its work for the call. */
async function giveUpOn(parameters: Record<string, string>, isDone: () => Promise<boolean>): Promise<string> {
  const refused = () => harness.logged().split('rpc refused').length;
  const before = refused();
  const request = { client: app, ...parameters };
  const reason = await reasonOf(harness.tokens.issueToken(request, { timeoutMs: PATIENCE_MS }));
  release();
  await eventually(async () => refused() > before || (await isDone()));
  return reason;
}

const isRotated = () => isSet('SELECT bool_or(generation > 0) AS done FROM "authorization".token_family')();

const isSet = (statement: string) => async () => {
  const { rows } = await admin.query<{ done: boolean }>(statement);
  return rows.every(({ done }) => done);
};

test('an exchange whose caller gave up during a slow consent call consumes nothing: the retry gets tokens, and no family is revoked', async () => {
  const code = await harness.obtainCode(app);
  slowConsent();
  const parameters = { grantType: 'authorization_code', code, redirectUri: REDIRECT_URI };
  const isConsumed = isSet('SELECT consumed_at IS NOT NULL AS done FROM "authorization".authorization_code');
  expect(await giveUpOn(parameters, isConsumed)).toBe('unavailable');
  harness.consent.onCheckLiveness = () => Promise.resolve();
  const tokens = await harness.exchange(app, code);
  expect(await harness.introspect(tokens.accessToken)).toMatchObject({ ledgerChecked: true });
  expect(harness.consent.revokedFamilies.size).toBe(0);
});

test('a refresh whose caller gave up during a slow consent call does not rotate, and the retry gets tokens', async () => {
  const first = await harness.exchange(app, await harness.obtainCode(app));
  slowConsent();
  const parameters = { grantType: 'refresh_token', refreshToken: first.refreshToken };
  expect(await giveUpOn(parameters, isRotated)).toBe('unavailable');
  expect(await isRotated()).toBe(false);
  harness.consent.onCheckLiveness = () => Promise.resolve();
  const next = await harness.refresh(app, first.refreshToken);
  expect(await harness.refresh(app, next.refreshToken)).toMatchObject({ grantId: first.grantId });
  expect(harness.consent.revokedFamilies.size).toBe(0);
});

test('an exchange whose change cannot be proven in time consumes nothing: the retry gets tokens, and no family is revoked', async () => {
  const code = await harness.obtainCode(app);
  await admin.query('BEGIN');
  await admin.query('SELECT FROM "authorization".instance FOR UPDATE');
  release = () => admin.query('ROLLBACK');
  const parameters = { grantType: 'authorization_code', code, redirectUri: REDIRECT_URI };
  const isConsumed = isSet(`
    SELECT consumed_at IS NOT NULL AS done FROM "authorization".authorization_code WHERE hash = sha256('${code}')`);
  expect(await giveUpOn(parameters, isConsumed)).toBe('unavailable');
  expect(await harness.exchange(app, code)).toMatchObject({ accessToken: expect.any(String) });
  expect(harness.consent.revokedFamilies.size).toBe(0);
});

test('neither an exchange nor a refresh consumes anything if too little time is left to prove it', async () => {
  const inShortTime = (parameters: object) =>
    reasonOf(harness.tokens.issueToken({ client: app, ...parameters }, { timeoutMs: 490 }));
  const code = await harness.obtainCode(app);
  const exchange = { grantType: 'authorization_code', code, redirectUri: REDIRECT_URI };
  expect(await inShortTime(exchange)).toBe('unavailable');
  const { refreshToken } = await harness.exchange(app, code);
  expect(await inShortTime({ grantType: 'refresh_token', refreshToken })).toBe('unavailable');
  const { rows } = await admin.query(
    'SELECT FROM "authorization".token_family WHERE refresh_hash = sha256($1::bytea) AND generation = 0',
    [refreshToken],
  );
  expect(rows).toHaveLength(1);
  expect(await harness.refresh(app, refreshToken)).toMatchObject({ refreshToken: expect.any(String) });
});

test('a waiting proof holds no connection that other work needs', async () => {
  await using narrow = await startHarness({ DATABASE_POOL_SIZE: '1' });
  const owner = await narrow.registerApp();
  const { accessToken } = await narrow.exchange(owner, await narrow.obtainCode(owner));
  const locker = await narrow.connect('admin');
  await locker.query('BEGIN');
  await locker.query('SELECT FROM "authorization".instance FOR UPDATE');
  const revoked = narrow.tokens.revokeToken({ client: owner, token: 'unknown' });
  await eventually(async () => {
    const { rows } = await locker.query(`
      SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`);
    return rows.length > 0;
  });
  expect(await narrow.introspect(accessToken)).toMatchObject({ ledgerChecked: true });
  await locker.query('ROLLBACK');
  await revoked;
});

describe('a look-up at the same moment as one whose caller has given up finds', () => {
  const limits = { schema: 'authorization', statementTimeoutMs: 10_000 };
  const options = { ...limits, connectionString: harness.database.url, applicationName: 'look-ups' };
  const { pool } = shared.use(openPostgres({ ...options, poolSize: 2 }));
  const prisma = shared.adopt(new PrismaClient(toPrismaOptions(pool, limits)), (it) => it.$disconnect());
  const guard = {} as never;
  const { findRequest } = createAuthorizationStore(pool, prisma, guard);
  const { findApp } = createAppStore({ pool, locks: pool }, prisma, guard);
  const { mayRegister } = createDevelopers(prisma, 'listed');

  test.each([
    ['an app', () => findApp(app.clientId), expect.objectContaining({ clientId: app.clientId })],
    ['no request', () => findRequest('pnd_0'), null],
    ['no developer', () => mayRegister({ userId: 'ada', claims: {} }), false],
  ])('%s', async (_what, find: () => Promise<unknown>, found) => {
    const ended = new Deadline(10_000);
    ended.end();
    const both = [withinDeadline(ended, find), withinDeadline(new Deadline(10_000), find)];
    const [given, patient] = await Promise.allSettled(both);
    expect(given).toMatchObject({ status: 'rejected' });
    expect(patient).toEqual({ status: 'fulfilled', value: found });
  });
});
