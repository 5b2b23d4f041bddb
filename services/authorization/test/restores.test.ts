import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { RestoreKind } from '@phds/contracts/phds/common/v1/restore_pb';
import { createProofKey, type ProofKey } from '@phds/test-kit/dpop-proofs';
import pg from 'pg';
import { signAssertion } from './assertions.ts';
import { type Harness, HEART, REDIRECT_URI, reasonOf, startHarness, type TestApp } from './harness.ts';

const TABLES = ['app', 'authorization_code', 'token_family', 'access_token', 'instance'];

let harness: Harness;
let app: TestApp;

beforeEach(async () => {
  // The periodic check runs once an hour, because suspension must not depend on it.
  harness = await startHarness();
  app = await harness.registerApp();
});
afterEach(async () => {
  await harness[Symbol.asyncDispose]();
});

/** As administrator, bypassing triggers as a restore does. */
async function inDatabase<Row extends object>(...statements: string[]): Promise<Row[]> {
  const admin = new pg.Client({
    connectionString: harness.database.adminUrl,
    options: '-c search_path=authorization -c session_replication_role=replica',
  });
  await admin.connect();
  try {
    const [answer] = [await admin.query<Row>(statements.join('; '))].flat().slice(-1);
    return answer?.rows ?? [];
  } finally {
    await admin.end();
  }
}

const takeSnapshot = () => inDatabase(...TABLES.map((name) => `CREATE TABLE kept_${name} AS TABLE ${name}`));
const putBack = () =>
  inDatabase(
    'BEGIN',
    ...TABLES.toReversed().map((name) => `DELETE FROM ${name}`),
    ...TABLES.map((name) => `INSERT INTO ${name} TABLE kept_${name}`),
    'COMMIT',
  );

async function rotateSecret(): Promise<TestApp> {
  const { clientSecret } = await harness.apps.rotateSecret(app, await harness.as('dev'));
  return { ...app, clientSecret };
}

const client = (of: TestApp) => harness.tokens.issueToken({ client: of, grantType: 'client_credentials' });

async function confirm(): Promise<void> {
  const { latest } = await harness.restores.getRestoreStatus({});
  await harness.restores.confirmRestore({ number: latest?.number ?? 0 });
}

describe('a database restored to a state without acknowledged changes', () => {
  test('accepts no rotated secret before an operator confirms, and no pending approval of the app without its secret', async () => {
    await takeSnapshot();
    await rotateSecret();
    await putBack();
    expect(await reasonOf(client(app))).toBe('unauthorized');
    const opening = harness.authorizations.openAuthorization({
      client: { clientId: app.clientId },
      redirectUri: REDIRECT_URI,
      scope: HEART,
    });
    expect(await reasonOf(opening)).toBe('unauthorized');
    expect(await harness.restores.getRestoreStatus({})).toMatchObject({
      latest: { kind: RestoreKind.DETECTED },
      suspended: 1,
    });
    await confirm();
    expect((await client(app)).accessToken).not.toBe('');
  });

  test('accepts no removed key before an operator confirms or the developer replaces the keys', async () => {
    const [old, next] = [await createProofKey(), await createProofKey()];
    const { clientId } = await harness.registerApp();
    const set = async (key: ProofKey) => {
      const jwks = JSON.stringify({ keys: [key.publicJwk] });
      await harness.updateApp(clientId, { tokenEndpointAuthMethod: 'private_key_jwt', jwks });
    };
    const present = async (key: ProofKey) =>
      harness.tokens.issueToken({
        client: { clientId, clientAssertion: await signAssertion(harness, key, clientId) },
        grantType: 'client_credentials',
      });
    await set(old);
    await takeSnapshot();
    await set(next);
    await putBack();
    expect(await reasonOf(present(old))).toBe('unauthorized');
    expect((await harness.restores.listSuspended({})).items).toContainEqual(
      expect.objectContaining({ clientId }),
    );
    await set(next);
    expect((await present(next)).accessToken).not.toBe('');
    expect(await reasonOf(present(old))).toBe('unauthorized');
    expect((await harness.restores.listSuspended({ clientId })).items).toEqual([]);
    await harness.restores.declareRestore({});
    expect(await reasonOf(present(next))).toBe('unauthorized');
    const { latest } = await harness.restores.getRestoreStatus({});
    await harness.restores.confirmPart({ number: latest?.number ?? 0, clientId });
    expect((await present(next)).accessToken).not.toBe('');
  });

  test('suspends an app that has a secret and a key while either is old', async () => {
    const [old, next] = [await createProofKey(), await createProofKey()];
    const setKey = ({ publicJwk }: ProofKey) =>
      harness.updateApp(app.clientId, { jwks: JSON.stringify({ keys: [publicJwk] }) });
    await setKey(old);
    await harness.restores.declareRestore({});
    const current = await rotateSecret();
    expect(await reasonOf(client(current))).toBe('unauthorized');
    await setKey(next);
    expect((await client(current)).accessToken).not.toBe('');
  });

  test('accepts no used refresh token or code, and revives no access token', async () => {
    const code = await harness.obtainCode(app);
    const issued = await harness.exchange(app, await harness.obtainCode(app));
    await takeSnapshot();
    await harness.exchange(app, code);
    const renewed = await harness.refresh(app, issued.refreshToken);
    await harness.refresh(app, renewed.refreshToken);
    await putBack();
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.DEAD);
    // Only the app's owner knows a newly rotated secret. With it the app works, but nothing older does.
    const current = await rotateSecret();
    expect(await reasonOf(harness.refresh(current, issued.refreshToken))).toBe('invalid_grant');
    expect(await reasonOf(harness.exchange(current, code))).toBe('invalid_grant');
    const own = await harness.tokens.introspectOwnToken({ client: current, token: issued.refreshToken });
    expect(own.active).toBe(false);
    // What is created afterwards is not affected.
    const newcomer = await harness.registerApp();
    const first = await harness.exchange(newcomer, await harness.obtainCode(newcomer));
    const second = await harness.refresh(newcomer, first.refreshToken);
    expect((await harness.introspect(second.accessToken)).status).toBe(TokenStatus.LIVE);

    await confirm();
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.LIVE);
    expect((await harness.refresh(current, issued.refreshToken)).refreshToken).toBe(renewed.refreshToken);
  });
});

test('a part is confirmed alone: the secret, codes and tokens of an app, or codes and tokens of a person', async () => {
  const other = await harness.registerApp();
  const mine = await harness.exchange(app, await harness.obtainCode(app));
  const others = await harness.exchange(other, await harness.obtainCode(other, { userId: 'grace' }));
  // The entry of the first start is not a restore.
  expect(await reasonOf(harness.restores.confirmRestore({ number: 1 }))).toBe('not_found');
  const { restore } = await harness.restores.declareRestore({});
  const confirmPart = (part: object) =>
    harness.restores.confirmPart({ number: restore?.number ?? 0, ...part });
  expect((await harness.restores.listSuspended({})).total).toBe(2);
  await confirmPart({ clientId: app.clientId });
  expect((await client(app)).accessToken).not.toBe('');
  expect((await harness.introspect(mine.accessToken)).status).toBe(TokenStatus.LIVE);
  expect((await harness.refresh(app, mine.refreshToken)).refreshToken).not.toBe('');
  expect(await reasonOf(client(other))).toBe('unauthorized');
  expect((await harness.introspect(others.accessToken)).status).toBe(TokenStatus.DEAD);

  await confirmPart({ userId: 'grace' });
  expect((await harness.introspect(others.accessToken)).status).toBe(TokenStatus.LIVE);
  expect(await reasonOf(client(other))).toBe('unauthorized');
  expect((await harness.restores.listSuspended({})).items).toMatchObject([{ clientId: other.clientId }]);
  await harness.restores.declareRestore({});
  expect(await reasonOf(client(app))).toBe('unauthorized');
  expect(await reasonOf(confirmPart({ clientId: app.clientId }))).toBe('not_found');
});

test('a replacement database with every acknowledged change needs no operator', async () => {
  const issued = await harness.exchange(app, await harness.obtainCode(app));
  const current = await rotateSecret();
  await inDatabase(`UPDATE restore SET identity = 'another'`);
  expect((await harness.refresh(current, issued.refreshToken)).accessToken).not.toBe('');
  expect(await reasonOf(client(app))).toBe('unauthorized');
  expect(await harness.restores.getRestoreStatus({})).toMatchObject({ suspended: 0 });
  expect(await inDatabase('SELECT kind FROM restore ORDER BY number')).toEqual([
    { kind: 'first' },
    { kind: 'failover' },
  ]);
});

test('every change of a secret, code or refresh token is proven in the database before it is acknowledged', async () => {
  const position = async () => {
    const [row] = await inDatabase<{ position: string }>('SELECT position FROM instance');
    return Number(row?.position);
  };
  const code = await harness.obtainCode(app);
  const positions = [await position()];
  const { refreshToken } = await harness.exchange(app, code);
  positions.push(await position());
  await harness.refresh(app, refreshToken);
  positions.push(await position());
  // A repeat proves again: its first answer may have come from a process that died before it remembered.
  await harness.refresh(app, refreshToken);
  positions.push(await position());
  await rotateSecret();
  positions.push(await position());
  expect(positions).toEqual([...positions].sort((a, b) => a - b));
  expect(new Set(positions).size).toBe(positions.length);
});

test('a declared restore is append-only for the service and the owner', async () => {
  const run = async (connectionString: string, statement: string) => {
    const connection = new pg.Client({ connectionString, options: '-c search_path=authorization' });
    await connection.connect();
    await connection.query(statement).finally(() => connection.end());
  };
  for (const statement of [
    "UPDATE restore SET kind = 'first'",
    'DELETE FROM restore',
    'DELETE FROM restore_confirmation',
  ]) {
    await expect(run(harness.database.url, statement)).rejects.toThrow(/permission denied/);
    await expect(run(harness.database.ownerUrl, statement)).rejects.toThrow(/append-only/);
  }
});
