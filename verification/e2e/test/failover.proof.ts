import { cp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
  THROWAWAY_SETTINGS,
} from '@phds/local-stack/servers/embedded-postgres';
import { crashDatabase, stopDatabase } from '@phds/running-system/outages';
import { expectStatus, toTokens } from '@phds/running-system/partner-app';
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
import pg from 'pg';
import { runAsOperator } from '../src/operator-command.ts';
import { statusWith } from '../src/sessions.ts';

let stack: RunningStack;
let databases: AsyncDisposableStack;
let person: ConnectedPerson;
let leavingPerson: ConnectedPerson;
let oldSecret: string;
let oldRefreshToken: string;
let standby: EmbeddedPostgres;
let directory: string;
let standbyDirectory: string;

/** Starts a streaming standby of the stack's server. */
async function startStandby(settings: Record<string, string>): Promise<void> {
  const stopped = await stopDatabase(stack);
  directory = stopped.directory;
  standbyDirectory = `${directory}.standby`;
  await cp(directory, standbyDirectory, { recursive: true });
  databases.use(await stopped.start(settings));
  await writeFile(join(standbyDirectory, 'standby.signal'), '');
  const { hostname, port, username, password } = new URL(stack.adminDatabaseUrl);
  standby = databases.use(
    await startEmbeddedPostgres({
      directory: standbyDirectory,
      port: 0,
      standby: true,
      password: decodeURIComponent(password),
      settings: {
        ...THROWAWAY_SETTINGS,
        primary_conninfo: `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`,
      },
    }),
  );
  await untilTheDatabaseAnswers();
}

/** Crashes the server and promotes its standby, as a database manager would. */
async function failOver(): Promise<void> {
  await crashDatabase(stack);
  await asAdmin(standby.adminUrl, (admin) => admin.query('SELECT pg_promote()'));
  await standby.stop();
  await rm(directory, { recursive: true });
  await rename(standbyDirectory, directory);
  const { port, password } = new URL(stack.adminDatabaseUrl);
  databases.use(
    await startEmbeddedPostgres({
      directory,
      port: Number(port),
      password: decodeURIComponent(password),
      settings: THROWAWAY_SETTINGS,
    }),
  );
  await untilTheDatabaseAnswers();
}

async function asAdmin<T>(url: string, use: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: url });
  admin.on('error', () => undefined);
  await admin.connect();
  try {
    return await use(admin);
  } finally {
    await admin.end();
  }
}

/** Signs in again, because a failover that lacks changes ends earlier sessions. */
async function untilTheDatabaseAnswers(): Promise<void> {
  await eventually(async () => (await statusWith(stack.gateway, await signIn(stack, 'connected'))) === 200);
}

/** The revocations that no failover below may undo. */
async function takeBack(): Promise<void> {
  const { session, tokens } = leavingPerson;
  const url = `${stack.gateway}/partner/consent/grants/${tokens.grantId}`;
  expectStatus(200, await send(url, { method: 'DELETE', bearer: session }));
  const { app } = person;
  oldSecret = app.clientSecret;
  oldRefreshToken = person.tokens.refreshToken;
  app.clientSecret = await rotateSecret(person, stack.gateway);
  person.tokens = toTokens(expectStatus(200, await app.refresh(oldRefreshToken)));
  person.tokens = toTokens(expectStatus(200, await app.refresh(person.tokens.refreshToken)));
}

/** The status of a read, once the services have settled whether to trust the database. */
async function readSettled({ app, tokens }: ConnectedPerson): Promise<number> {
  let answered = 503;
  await eventually(async () => {
    answered = (await app.read(tokens.accessToken, HEART_PATH)).status;
    return answered !== 503;
  });
  return answered;
}

async function phdsRestore(...words: string[]): Promise<Record<string, unknown>> {
  return (await runAsOperator(stack, ['restore', ...words])).document;
}

beforeAll(async () => {
  databases = new AsyncDisposableStack();
  stack = await startRunningStack({ redis: false });
});
beforeEach(async () => {
  person = await connectPerson(stack, 'connected');
  leavingPerson = await connectPerson(stack, 'leaver');
});
afterAll(async () => {
  for (const process of stack?.processes.values() ?? []) await process.stop();
  await databases?.disposeAsync();
  await stack?.[Symbol.asyncDispose]();
});

describe('a promoted synchronous standby', () => {
  beforeEach(async () => {
    await startStandby({ synchronous_standby_names: '*' });
    await eventually(() =>
      asAdmin(stack.adminDatabaseUrl, async (admin) => {
        const { rows } = await admin.query('SELECT sync_state FROM pg_stat_replication');
        return rows[0]?.sync_state === 'sync';
      }),
    );
    await takeBack();
    await failOver();
  });

  test('serves without an operator, and revocations stay in effect', async () => {
    expect(await readSettled(person)).toBe(200);
    expect(await readSettled(leavingPerson)).toBe(401);
    await useEverything(person);
    const rotated = person.app.clientSecret;
    person.app.clientSecret = oldSecret;
    expect((await person.app.refresh(person.tokens.refreshToken)).status).toBe(401);
    person.app.clientSecret = rotated;
    expect((await person.app.refresh(person.tokens.refreshToken)).status).toBe(200);
    expect(await phdsRestore('status')).toEqual({
      consent: { suspended: 0 },
      authorization: { suspended: 0 },
    });
  });
});

describe('a promoted standby that lacks the last acknowledged changes', () => {
  beforeEach(async () => {
    await startStandby({});
    const isCaughtUp = (admin: pg.Client) =>
      admin.query<{ done: boolean }>(
        'SELECT replay_lsn >= pg_current_wal_lsn() AS done FROM pg_stat_replication',
      );
    await eventually(() =>
      asAdmin(stack.adminDatabaseUrl, async (admin) => (await isCaughtUp(admin)).rows[0]?.done === true),
    );
  });

  test('restores no revoked access before an operator confirms', async () => {
    // From now on the standby receives nothing, and commits do not wait for it.
    await standby.stop();
    await takeBack();
    standby = databases.use(await restartStandbyAlone());
    await failOver();
    expect(await readSettled(leavingPerson)).toBe(401);
    expect(await readSettled(person)).toBe(401);
    person.app.clientSecret = oldSecret;
    expect((await person.app.refresh(oldRefreshToken)).status).toBe(401);
    // Of the two people of the test before, one had withdrawn the grant.
    expect(await phdsRestore('status')).toMatchObject({
      consent: { latest: { kind: 'RESTORE_KIND_DETECTED' }, suspended: 3 },
      authorization: { latest: { kind: 'RESTORE_KIND_DETECTED' }, suspended: 4 },
    });

    // The database may lack the end of a session from before.
    expect(await statusWith(stack.gateway, person.session)).toBe(401);
    person = { ...person, session: await signIn(stack, 'connected') };

    // A secret created after the failover works at once; a refresh token from before does not.
    person.app.clientSecret = await rotateSecret(person, stack.gateway);
    expect(await person.app.refresh(oldRefreshToken)).toMatchObject({
      status: 400,
      body: { error: 'invalid_grant' },
    });
    await useNewConsent();

    await phdsRestore('confirm', '--confirm', 'believe', '--reason', 'a proof');
    expect((await person.app.refresh(oldRefreshToken)).status).toBe(200);
    expect(await readSettled(leavingPerson)).toBe(200);
  });
});

/** New consents work while confirmation is pending. */
async function useNewConsent(): Promise<void> {
  const newcomer = await connectPerson(stack, 'newcomer');
  await useEverything(newcomer);
}

/** Starts the standby without its primary. */
async function restartStandbyAlone(): Promise<EmbeddedPostgres> {
  const { password } = new URL(stack.adminDatabaseUrl);
  return startEmbeddedPostgres({
    directory: standbyDirectory,
    port: 0,
    standby: true,
    password: decodeURIComponent(password),
    settings: THROWAWAY_SETTINGS,
  });
}
