import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { type Harness, REDIRECT_URI, reasonOf, startHarness } from './harness.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(async () => harness[Symbol.asyncDispose]());

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
  const as = await harness.as('dev');
  expect(
    (await harness.apps.updateApp({ clientId, settings: { name: 'B', redirectUris: [] } }, as)).app,
  ).toMatchObject({ clientId, name: 'B' });
  expect((await harness.apps.getApp({ clientId }, as)).app?.clientId).toBe(clientId);
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
        const moved = query(`UPDATE ${table} SET user_id = $1, client_id = $2 WHERE client_id = $3`, [
          userId,
          clientId,
          app.clientId,
        ]);
        await expect(moved).rejects.toMatchObject({ code: '23514' });
      }
    }
  });
});

async function countCodes(clientId: string): Promise<number> {
  const { rows } = await query('SELECT count(*)::int AS count FROM authorization_code WHERE client_id = $1', [
    clientId,
  ]);
  return rows[0].count;
}

async function query(statement: string, values: unknown[]) {
  const owner = new pg.Client({
    connectionString: harness.database.ownerUrl,
    options: '-c search_path=authorization',
  });
  await owner.connect();
  try {
    return await owner.query(statement, values);
  } finally {
    await owner.end();
  }
}
