import { cp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
  THROWAWAY_SETTINGS,
} from '@phds/local-stack/servers/embedded-postgres';
import { crashDatabase, stopDatabase, stopReplacements } from '@phds/running-system/outages';
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
import { queryOnce } from '@phds/test-kit/open-client';
import { shared } from '@phds/test-kit/shared';
import { runAsOperator } from '../src/operator-command.ts';
import { statusWith } from '../src/sessions.ts';

const stack = shared.use(await startRunningStack({ redis: false }));
const servers: EmbeddedPostgres[] = [];
shared.defer(() => stopReplacements(stack, servers));

interface Standby {
  readonly server: EmbeddedPostgres;
  /** Of the server that it follows. */
  readonly directory: string;
}

const toStandby = (directory: string) => `${directory}.standby`;
const { hostname, port, username, password } = new URL(stack.adminDatabaseUrl);

/** Starts a synchronous standby of the stack's server. */
async function startStandby(): Promise<Standby> {
  const { directory, start } = await stopDatabase(stack);
  await cp(directory, toStandby(directory), { recursive: true });
  servers.push(await start({ synchronous_standby_names: '*' }));
  await writeFile(join(toStandby(directory), 'standby.signal'), '');
  const server = await startEmbeddedPostgres({
    directory: toStandby(directory),
    port: 0,
    standby: true,
    password: decodeURIComponent(password),
    settings: {
      ...THROWAWAY_SETTINGS,
      primary_conninfo: `host=${hostname} port=${port} user=${username} password=${decodeURIComponent(password)}`,
    },
  });
  servers.push(server);
  await untilTheDatabaseAnswers();
  await eventually(async () => {
    const [follower] = await queryOnce(stack.adminDatabaseUrl, 'SELECT sync_state FROM pg_stat_replication');
    return follower?.['sync_state'] === 'sync';
  });
  return { server, directory };
}

/** Crashes the server and promotes its standby, as a database manager would. */
async function failOver({ server, directory }: Standby): Promise<void> {
  const restart = await crashDatabase(stack);
  await queryOnce(server.adminUrl, 'SELECT pg_promote()');
  await server.stop();
  await rm(directory, { recursive: true });
  await rename(toStandby(directory), directory);
  servers.push(await restart());
  await untilTheDatabaseAnswers();
}

async function untilTheDatabaseAnswers(): Promise<void> {
  await eventually(async () => (await statusWith(stack.gateway, await signIn(stack, 'connected'))) === 200);
}

/** The status of a read, once the services have settled whether to trust the database. */
async function readSettled({ app, tokens }: Pick<ConnectedPerson, 'app' | 'tokens'>): Promise<number> {
  let answered = 503;
  await eventually(async () => {
    answered = (await app.read(tokens.accessToken, HEART_PATH)).status;
    return answered !== 503;
  });
  return answered;
}

test('a promoted synchronous standby serves without an operator, and revocations stay in effect', async () => {
  const person = await connectPerson(stack, 'connected');
  const { app, session, tokens } = await connectPerson(stack, 'leaver');
  const standby = await startStandby();
  const grant = `${stack.gateway}/partner/consent/grants/${tokens.grantId}`;
  expectStatus(200, await send(grant, { method: 'DELETE', bearer: session }));
  const { clientSecret: oldSecret } = person.app;
  const newSecret = await rotateSecret(person, stack.gateway);
  await failOver(standby);

  expect(await readSettled({ app, tokens })).toBe(401);
  person.app.clientSecret = oldSecret;
  expect((await person.app.refresh(person.tokens.refreshToken)).status).toBe(401);
  person.app.clientSecret = newSecret;
  expect(await readSettled(person)).toBe(200);
  await useEverything(person);
  expect((await runAsOperator(stack, ['restore', 'status'])).document).toEqual({
    consent: { suspended: 0 },
    authorization: { suspended: 0 },
  });
});
