import { cp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { EmbeddedPostgres } from '@phds/local-stack/servers/embedded-postgres';
import { stopDatabase, stopReplacements } from '@phds/running-system/outages';
import { expectStatus } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { rotateSecret } from '@phds/running-system/revocation-ways';
import { startRunningStack } from '@phds/running-system/running-stack';
import {
  type ConnectedPerson,
  connectPerson,
  HEART_PATH,
  useEverything,
} from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import { runAsOperator } from '../src/operator-command.ts';
import { statusWith } from '../src/sessions.ts';

const GATEWAYS = 2;

const stack = shared.use(await startRunningStack({ gateways: GATEWAYS, redis: false }));
const servers: EmbeddedPostgres[] = [];
shared.defer(() => stopReplacements(stack, servers));

let person: ConnectedPerson;
/** Everybody who has connected an app so far: each has one grant and one app that a restore suspends. */
let people = 0;

/** Replaces the data directory while the server is down. The services keep running. */
async function restartDatabase(
  change: (directory: string) => Promise<void>,
  settings: Record<string, string> = {},
): Promise<EmbeddedPostgres> {
  const { directory, start } = await stopDatabase(stack);
  await change(directory);
  const server = await start(settings);
  servers.push(server);
  return server;
}

const toBackup = (directory: string) => `${directory}.backup`;

async function backUp(directory: string): Promise<void> {
  await rm(toBackup(directory), { recursive: true, force: true });
  await cp(directory, toBackup(directory), { recursive: true });
}

async function putBack(directory: string): Promise<void> {
  await rm(directory, { recursive: true });
  await cp(toBackup(directory), directory, { recursive: true });
}

/** Restores as backup programs do: recovery reads the archive, which is empty here, and ends on a new timeline. */
async function recover(directory: string): Promise<void> {
  await putBack(directory);
  await writeFile(join(directory, 'recovery.signal'), '');
}

const REASON = ['--reason', 'a proof'];
const CONFIRMATIONS = {
  status: [],
  declare: ['--confirm', 'suspend', ...REASON],
  confirm: ['--confirm', 'believe', ...REASON],
};

async function phdsRestore(action: keyof typeof CONFIRMATIONS): Promise<Record<string, unknown>> {
  return (await runAsOperator(stack, ['restore', action, ...CONFIRMATIONS[action]])).document;
}

/** The answer of each gateway. One that has not reached the restarted services yet answers 503, and is asked again. */
async function readEverywhere({ app, tokens }: ConnectedPerson): Promise<number[]> {
  const answers = stack.gatewayUrls.map((url) =>
    eventually(async () => {
      const { status } = await app.at(url).read(tokens.accessToken, HEART_PATH);
      return status !== 503 && status;
    }),
  );
  return Promise.all(answers);
}

/** Waits until the services have found the database again. Signs in again, because a restore ends earlier sessions. */
async function untilTheDatabaseIsBack(): Promise<void> {
  await eventually(
    async () => (await statusWith(stack.gateway, await signIn(stack, 'operator-of-backups'))) === 200,
  );
}

async function connectNewPerson(): Promise<ConnectedPerson> {
  people += 1;
  return connectPerson(stack, `connected-${people}`);
}

// Each test begins with the database that the one before has left; every restore is confirmed by then.
beforeEach(async () => {
  person = await connectNewPerson();
  await useEverything(person);
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
    const before = await phdsRestore('status');
    await restartDatabase(recover, { restore_command: 'false' });
    await untilTheDatabaseIsBack();
    expect(await readEverywhere(person)).toEqual([401, 401]);
    const refreshed = await person.app.refresh(person.tokens.refreshToken);
    expect(refreshed).toMatchObject({ status: 400, body: { error: 'invalid_grant' } });
    const introspected = await person.app.introspect(person.tokens.accessToken);
    expect(introspected.body).toEqual({ active: false });
    // The backup may lack the end of this session.
    expect(await statusWith(stack.gateway, person.session)).toBe(401);

    const suspendedGrants = people;
    await useEverything(await connectNewPerson());
    expect(await phdsRestore('status')).toMatchObject({
      consent: { latest: { kind: 'RESTORE_KIND_DETECTED' }, suspended: suspendedGrants },
      // The backup contains everything that this service acknowledged.
      authorization: before['authorization'],
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
      consent: { latest: { kind: 'RESTORE_KIND_DETECTED' }, suspended: people },
      authorization: { latest: { kind: 'RESTORE_KIND_DETECTED' }, suspended: people },
    });
    await phdsRestore('confirm');
  });

  test('restores no revoked access from a snapshot with restarted services, once an operator has declared the restore', async () => {
    const before = await phdsRestore('status');
    await restartDatabase(async (directory) => {
      for (const name of ['authorization', 'consent']) await stack.processes.get(name)?.stop();
      await putBack(directory);
    });
    for (const name of ['consent', 'authorization']) await stack.processes.get(name)?.start();
    await untilTheDatabaseIsBack();
    // Neither the database nor a process shows the restore, so an operator must declare it.
    expect(await phdsRestore('status')).toEqual(before);
    expect(await phdsRestore('declare')).toMatchObject({
      consent: { latest: { kind: 'RESTORE_KIND_DECLARED' }, suspended: people },
      authorization: { latest: { kind: 'RESTORE_KIND_DECLARED' }, suspended: people },
    });
    expect(await readEverywhere(person)).toEqual([401, 401]);
    await phdsRestore('confirm');
  });
});
