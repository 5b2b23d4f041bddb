import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { EmbeddedPostgres } from '@phds/local-stack/servers/embedded-postgres';
import { stopDatabase } from '@phds/running-system/outages';
import { expectStatus } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { rotateSecret } from '@phds/running-system/revocation-ways';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import {
  type ConnectedPerson,
  connectPerson,
  HEART_PATH,
  useEverything,
} from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import { runAsOperator } from '../src/operator-command.ts';
import { statusWith } from '../src/sessions.ts';

const GATEWAYS = 2;

let stack: RunningStack;
let databases: AsyncDisposableStack;
let person: ConnectedPerson;

/** Replaces the data directory while the server is down. The services keep running. */
async function restartDatabase(
  change: (directory: string) => Promise<void>,
  settings: Record<string, string> = {},
): Promise<EmbeddedPostgres> {
  const { directory, start } = await stopDatabase(stack);
  await change(directory);
  return databases.use(await start(settings));
}

const UNTOUCHED = {
  consent: { latest: null, suspendedGrants: 0 },
  authorization: { latest: null, suspendedApps: 0 },
};

const toBackup = (directory: string) => `${directory}.backup`;
const backUp = (directory: string) => cp(directory, toBackup(directory), { recursive: true });

async function putBack(directory: string): Promise<void> {
  await rm(directory, { recursive: true });
  await cp(toBackup(directory), directory, { recursive: true });
}

/** Restores as backup programs do: recovery reads the archive, which is empty here, and ends on a new timeline. */
async function recover(directory: string): Promise<void> {
  await putBack(directory);
  await writeFile(join(directory, 'recovery.signal'), '');
}

const CONFIRMATIONS = { status: [], declare: ['--confirm', 'suspend'], confirm: ['--confirm', 'believe'] };

async function phdsRestore(action: keyof typeof CONFIRMATIONS): Promise<Record<string, unknown>> {
  return (await runAsOperator(stack, ['restore', action, ...CONFIRMATIONS[action]])).document;
}

async function readEverywhere({ app, tokens }: ConnectedPerson): Promise<number[]> {
  const answers = stack.gatewayUrls.map((url) => app.at(url).read(tokens.accessToken, HEART_PATH));
  return (await Promise.all(answers)).map(({ status }) => status);
}

/** Waits until the services have found the database again. Signs in again, because a restore ends earlier sessions. */
async function untilTheDatabaseIsBack(): Promise<void> {
  await eventually(async () => (await statusWith(stack.gateway, await signIn(stack, 'connected'))) === 200);
}

beforeEach(async () => {
  databases = new AsyncDisposableStack();
  stack = await startRunningStack({ gateways: GATEWAYS, redis: false });
  person = await connectPerson(stack, 'connected');
  await useEverything(person);
});
afterEach(async () => {
  for (const process of stack?.processes.values() ?? []) await process.stop();
  await databases?.disposeAsync();
  await stack?.[Symbol.asyncDispose]();
});

describe('a backup made before a revocation', () => {
  beforeEach(async () => {
    await restartDatabase(backUp);
    await untilTheDatabaseIsBack();
    const { session, tokens } = person;
    const url = `${stack.gateway}/partner/consent/grants/${tokens.grantId}`;
    expectStatus(200, await send(url, { method: 'DELETE', bearer: session }));
  });

  test('restores no revoked access by recovery before an operator confirms', async () => {
    await restartDatabase(recover, { restore_command: 'false' });
    await untilTheDatabaseIsBack();
    expect(await readEverywhere(person)).toEqual([401, 401]);
    const refreshed = await person.app.refresh(person.tokens.refreshToken);
    expect(refreshed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const introspected = await person.app.introspect(person.tokens.accessToken);
    expect(introspected.body).toEqual({ active: false });
    // The backup may lack the end of this session.
    expect(await statusWith(stack.gateway, person.session)).toBe(401);

    const newcomer = await connectPerson(stack, 'newcomer');
    await useEverything(newcomer);
    expect(await phdsRestore('status')).toMatchObject({
      consent: { latest: { kind: 'detected', confirmedAt: null }, suspendedGrants: 1 },
      // The backup contains everything that this service acknowledged.
      authorization: UNTOUCHED.authorization,
    });

    await phdsRestore('confirm');
    expect(await statusWith(stack.gateway, person.session)).toBe(200);
    expect(await readEverywhere(person)).toEqual([200, 200]);
    expect((await person.app.refresh(person.tokens.refreshToken)).status).toBe(200);
  });

  test('restores no revoked access when a snapshot replaces the data under running services', async () => {
    const { app } = person;
    const { clientSecret: oldSecret } = app;
    const { refreshToken } = person.tokens;
    app.clientSecret = await rotateSecret(person, stack.gateway);
    await restartDatabase(putBack);
    await untilTheDatabaseIsBack();
    expect(await readEverywhere(person)).toEqual([401, 401]);
    app.clientSecret = oldSecret;
    expect((await app.refresh(refreshToken)).status).toBe(401);
    expect(await phdsRestore('status')).toMatchObject({
      consent: { latest: { kind: 'detected' }, suspendedGrants: 1 },
      authorization: { latest: { kind: 'detected' }, suspendedApps: 1 },
    });
  });

  test('restores no revoked access from a snapshot with restarted services, once an operator has declared the restore', async () => {
    await restartDatabase(async (directory) => {
      for (const name of ['authorization', 'consent']) await stack.processes.get(name)?.stop();
      await putBack(directory);
    });
    for (const name of ['consent', 'authorization']) await stack.processes.get(name)?.start();
    await untilTheDatabaseIsBack();
    // Neither the database nor a process shows the restore, so an operator must declare it.
    expect(await phdsRestore('status')).toEqual(UNTOUCHED);
    expect(await phdsRestore('declare')).toMatchObject({
      consent: { latest: { kind: 'declared' }, suspendedGrants: 1 },
      authorization: { latest: { kind: 'declared' }, suspendedApps: 1 },
    });
    expect(await readEverywhere(person)).toEqual([401, 401]);
  });
});

test('a server that only crashed is trusted', async () => {
  await restartDatabase(async () => undefined);
  await untilTheDatabaseIsBack();
  expect(await readEverywhere(person)).toEqual([200, 200]);
  expect(await statusWith(stack.gateway, person.session)).toBe(200);
  expect(await phdsRestore('status')).toEqual(UNTOUCHED);
});
