import { describe, expect, test } from '@jest/globals';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import {
  HEART,
  ISSUER,
  REDIRECT_URI,
  reasonOf,
  refusalOf,
  SLEEP,
  shareHarness,
  type TestApp,
} from './harness.ts';

const harness = await shareHarness();
const owner = await harness.connect();

const settings = { name: 'App', redirectUris: [REDIRECT_URI] };

async function registerSandboxApp() {
  const { app, clientSecret } = await harness.apps.registerApp(
    { settings, sandbox: true },
    await harness.as('dev'),
  );
  return { clientId: app?.clientId ?? '', clientSecret };
}

test('the client id of a sandbox app begins with app_sandbox_, and no other one does', async () => {
  expect((await registerSandboxApp()).clientId).toMatch(/^app_sandbox_[0-9A-Za-z]{22}$/);
  expect((await harness.registerApp()).clientId).toMatch(/^app_[0-9A-Za-z]{22}$/);
});

test('a sandbox app keeps its environment through every change', async () => {
  const { clientId } = await registerSandboxApp();
  const updated = await harness.updateApp(clientId, { name: 'B', redirectUris: [] });
  expect(updated).toMatchObject({ clientId, name: 'B' });
  expect((await harness.readApp(clientId))?.clientId).toBe(clientId);
});

describe('a person and a sandbox app', () => {
  test('get no code, even if consent were to approve it', async () => {
    // The consent service of these tests does not tell the environments apart.
    const app = await registerSandboxApp();
    expect(await reasonOf(harness.obtainCode(app))).toBe('internal');
    expect(await countCodes(app.clientId)).toBe(0);
  });

  test('nor can the database hold a code or a family of theirs, nor of a sandbox person and a live app', async () => {
    const app = await harness.registerApp();
    await harness.exchange(app, await harness.obtainCode(app));
    const sandboxApp = await registerSandboxApp();
    for (const [userId, clientId] of [
      ['ada', sandboxApp.clientId],
      ['sandbox:app_sandbox_1:ada', app.clientId],
      ['sandbox:app_sandbox_1:ada', sandboxApp.clientId],
    ]) {
      for (const table of ['authorization_code', 'token_family']) {
        const moved = owner.query(`UPDATE ${table} SET user_id = $1, client_id = $2 WHERE client_id = $3`, [
          userId,
          clientId,
          app.clientId,
        ]);
        await expect(moved).rejects.toMatchObject({ code: '23514' });
      }
    }
  });
});

describe('a request of a sandbox app', () => {
  const open = async (app: TestApp, loginHint?: string, more: object = {}) => {
    const hint = loginHint === undefined ? {} : { loginHint };
    const request = { client: app, redirectUri: REDIRECT_URI, scope: HEART, state: 's t', ...hint, ...more };
    return harness.authorizations.openAuthorization(request);
  };
  const complete = ({ clientId }: TestApp, pendingId: string) =>
    harness.authorizations.completeSandboxAuthorization({ clientId, pendingId });

  test.each([
    [undefined, 'ada'],
    ['', 'ada'],
    ['dora', 'dora'],
  ])(
    'with login_hint %s is approved at once for %s, and a repeat gives the same code',
    async (hint, person) => {
      const app = await registerSandboxApp();
      const { pendingId } = await open(app, hint);
      const done = await complete(app, pendingId);
      expect(done).toMatchObject({ userId: `sandbox:${app.clientId}:${person}`, redirectHost: 'app.test' });
      const { searchParams } = new URL(done.redirectUri);
      expect(Object.fromEntries(searchParams)).toMatchObject({ tenant: '7', state: 's t', iss: ISSUER });
      expect((await complete(app, pendingId)).redirectUri).toBe(done.redirectUri);
      const tokens = await harness.exchange(app, searchParams.get('code') ?? '');
      expect(tokens.scope).toBe(HEART);
      expect(await reasonOf(complete(app, pendingId))).toBe('already_decided');
    },
  );

  test('with login_hint deny is denied', async () => {
    const app = await registerSandboxApp();
    const { pendingId } = await open(app, 'deny');
    const done = await complete(app, pendingId);
    expect(done.userId).toBe('');
    expect(new URL(done.redirectUri).searchParams.get('error')).toBe('access_denied');
    expect(await complete(app, pendingId)).toEqual(done);
  });

  test.each(['grace', 'ADA', 'sandbox:app_sandbox_1:ada', 'ada@example.com'])(
    'with login_hint %s is refused with a text that lists the people',
    async (hint) => {
      const error = await refusalOf(open(await registerSandboxApp(), hint));
      expect(error.reason).toBe('invalid_request');
      expect(error.message).toContain('ada, ben, cleo, dora or deny');
    },
  );

  test('is completed by no other app, and a request of a live app never', async () => {
    const app = await registerSandboxApp();
    const live = await harness.registerApp();
    const { pendingId } = await open(app);
    const { pendingId: pendingOfLive } = await open(live, 'ada');
    for (const [by, id] of [
      [await registerSandboxApp(), pendingId],
      [app, pendingOfLive],
      [live, pendingOfLive],
      [app, 'nonsense'],
    ] as const) {
      expect(await reasonOf(complete(by, id))).toBe('not_found');
    }
  });

  test('of a suspended app, or one that lost the scope since, is refused', async () => {
    const app = await registerSandboxApp();
    const { pendingId } = await open(app);
    await harness.updateApp(app.clientId, { scopes: [SLEEP], redirectUris: [] });
    expect(await reasonOf(complete(app, pendingId))).toBe('conflict');
    await harness.setStatus(app, AppStatus.SUSPENDED);
    expect(['app_not_active', 'conflict']).toContain(await reasonOf(complete(app, pendingId)));
  });
});

test('a live app may send any login_hint, which is ignored', async () => {
  const app = await harness.registerApp();
  const request = { client: app, redirectUri: REDIRECT_URI, scope: HEART, loginHint: 'somebody@example.com' };
  const { pendingId } = await harness.authorizations.openAuthorization(request);
  const { rows } = await owner.query(
    'SELECT sandbox_person FROM authorization_request WHERE pending_id = $1',
    [pendingId],
  );
  expect(rows).toEqual([{ sandbox_person: null }]);
});

async function countCodes(clientId: string): Promise<number> {
  const { rows } = await owner.query(
    'SELECT count(*)::int AS count FROM authorization_code WHERE client_id = $1',
    [clientId],
  );
  return rows[0].count;
}
