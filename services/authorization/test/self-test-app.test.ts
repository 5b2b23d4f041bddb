import { beforeEach, describe, expect, test } from '@jest/globals';
import { SELF_TEST_APP } from '@phds/catalog/sandbox';
import { newId } from '@phds/service-kit/ids';
import { newSecret } from '@phds/service-kit/secrets';
import { eventually } from '@phds/test-kit/conditions';
import { shareHarness, toHash } from './harness.ts';

const harness = await shareHarness();
const owner = await harness.connect();
const HOUR_MS = 3_600_000;

let clientId: string;

beforeEach(() => {
  clientId = newId('app_sandbox');
});

/** Starts instances with these secrets at once and waits until one of them is admitted. Ending them waits for what each of them does. */
async function deploy(...secrets: string[]): Promise<void> {
  await using instances = new AsyncDisposableStack();
  const starting = secrets.map((SELF_TEST_CLIENT_SECRET) =>
    harness.startInstance({ SELF_TEST_CLIENT_ID: clientId, SELF_TEST_CLIENT_SECRET }),
  );
  for (const instance of await Promise.all(starting)) instances.use(instance);
  await eventually(async () => expect(await admitted(...secrets)).toContain(true));
}

const admitted = (...secrets: string[]) =>
  Promise.all(
    secrets.map((clientSecret) =>
      harness.authorizations.authenticateClient({ client: { clientId, clientSecret } }).then(
        () => true,
        ({ reason }) => reason !== 'unauthorized',
      ),
    ),
  );

async function readRow() {
  const { rows } = await owner.query('SELECT * FROM app WHERE client_id = $1', [clientId]);
  return rows[0];
}

describe('the app of the self-test', () => {
  test('is registered once by instances that start at once, as a sandbox app of nobody, and its secret is stored as a hash', async () => {
    const secret = newSecret('client_secret');
    // Nothing is inserted before all of them have found no app.
    await owner.query('BEGIN; LOCK TABLE app IN SHARE MODE');
    const deployed = deploy(secret, secret, secret);
    await eventually(async () => expect(harness.consent.count('putApp')).toBe(3));
    await owner.query('COMMIT');
    await deployed;
    const row = await readRow();
    expect(row).toMatchObject({
      owner_id: `sandbox:${clientId}`,
      redirect_uris: [SELF_TEST_APP.redirectUri],
      scopes: [SELF_TEST_APP.scope],
      status: 'active',
      secret_hash: Buffer.from(toHash(secret)),
      previous_secret_hash: null,
    });
    expect(harness.consent.apps.get(clientId)?.profile?.ownerId).toBe(row.owner_id);
    expect(harness.logged()).not.toContain('registering the app of the self-test failed');
    expect(harness.logged().split('registered the app of the self-test').length - 1).toBe(1);
    expect(harness.logged()).not.toContain(secret);
  });

  test('keeps its secret when instances restart, and after a change both work for an hour', async () => {
    const [old, renewed] = [newSecret('client_secret'), newSecret('client_secret')];
    await deploy(old);
    const first = await readRow();
    harness.clock.advance(1_000);
    await deploy(old);
    expect(await readRow()).toEqual(first);
    await deploy(renewed, renewed);
    expect(await admitted(old, renewed)).toEqual([true, true]);
    // A replica that still has the old settings restarts.
    await deploy(old);
    harness.clock.advance(HOUR_MS);
    expect(await admitted(old, renewed)).toEqual([false, true]);
    // The change is undone.
    await deploy(old);
    expect(await admitted(old)).toEqual([true]);
  });

  test('comes back into a ledger that was restored without it', async () => {
    const secret = newSecret('client_secret');
    await deploy(secret);
    const profile = harness.consent.apps.get(clientId)?.profile;
    harness.consent.apps.delete(clientId);
    await deploy(secret);
    await eventually(async () => expect(harness.consent.apps.get(clientId)?.profile).toEqual(profile));
  });

  test('is never one of a developer, whose secret stays', async () => {
    const settings = { name: 'App', redirectUris: [SELF_TEST_APP.redirectUri] };
    const registration = { settings, sandbox: true };
    const { app, clientSecret } = await harness.apps.registerApp(registration, await harness.as('dev'));
    clientId = app?.clientId ?? '';
    const other = newSecret('client_secret');
    await deploy(other, clientSecret);
    expect(await admitted(clientSecret, other)).toEqual([true, false]);
    expect(harness.logged()).toContain('belongs to a developer');
  });

  test('that an operator has suspended stays suspended', async () => {
    const secret = newSecret('client_secret');
    await deploy(secret);
    await harness.operatedApps.suspendApp({ clientId, reason: 'test' });
    await using _instance = await harness.startInstance({
      SELF_TEST_CLIENT_ID: clientId,
      SELF_TEST_CLIENT_SECRET: newSecret('client_secret'),
    });
    await eventually(async () => expect((await readRow()).previous_secret_hash).not.toBeNull());
    expect(await admitted(secret)).toEqual([false]);
  });
});
