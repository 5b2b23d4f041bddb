import { beforeAll, describe, expect, test } from '@jest/globals';
import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import { API_PREFIX, ENDPOINTS } from '@phds/catalog/endpoints';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { asAdmin, lockOutOfDatabase } from '@phds/running-system/outages';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { Answer } from '@phds/running-system/request';
import { processOf, startRunningStack } from '@phds/running-system/running-stack';
import {
  type ConnectedPerson,
  connectPerson,
  HEART_PATH,
  sendWithLimit,
  useEverything,
} from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import { shared } from '@phds/test-kit/shared';
import { runAsOperator } from '../src/operator-command.ts';

type Name = 'authorization' | 'consent' | 'health-data' | 'gateway-1';

const SERVICES = ['authorization', 'consent', 'health-data', 'gateway-1'] as const satisfies Name[];

const stack = shared.use(await startRunningStack({ gateways: 2 }));
const person = await connectPerson(stack, 'connected');

async function recover(): Promise<void> {
  await eventually(() => useEverything(person), { intervalMs: 100 });
}

/** Starts a service and waits until it is live. It may need other services to become ready. */
async function startUntilAlive(name: Name): Promise<{ readonly ready: Promise<void> }> {
  const ready = processOf(stack, name).start();
  const base = name === 'gateway-1' ? stack.gateway : stack.probeUrls[name];
  const alive = eventually(async () => (await fetch(`${base}/livez`)).ok);
  await Promise.race([ready, alive]);
  return { ready };
}

/** During an outage every response arrives in time: data where it is available, otherwise a proper error. */
function expectClean({ status, body, headers }: Answer): void {
  if (status === 200) return;
  expect(status).toBe(503);
  expect(body.code).toMatch(/^(INTERNAL_ERROR|ACCESS_NOT_RECORDED)$/);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  expect(body).not.toHaveProperty('data');
}

/** Sends requests through the remaining gateway. */
async function askAround(): Promise<Record<'read' | 'token' | 'grants', Answer>> {
  const base = stack.gatewayUrls[1] as string;
  const { app, session, tokens } = person;
  const json = { ...app.credentials, grant_type: 'client_credentials' };
  const [read, token, grants] = await Promise.all([
    sendWithLimit(base + HEART_PATH, { bearer: tokens.accessToken }),
    sendWithLimit(`${base}/oauth/token`, { json }),
    sendWithLimit(`${base}/partner/consent/grants`, { bearer: session }),
  ]);
  return { read, token, grants };
}

/** Kills services at once, checks the responses, and starts the services in the given order. */
async function killAndStart(killed: readonly Name[], order: readonly Name[]): Promise<void> {
  await Promise.all(killed.map((name) => processOf(stack, name).kill('SIGKILL')));
  const answers = await askAround();
  for (const answer of Object.values(answers)) expectClean(answer);
  if (killed.includes('consent') || killed.includes('health-data')) expect(answers.read.status).toBe(503);
  if (killed.includes('authorization')) expect(answers.token.status).toBe(503);
  if (killed.includes('consent')) expect(answers.grants.status).toBe(503);
  const ready: Promise<void>[] = [];
  for (const name of order) ready.push((await startUntilAlive(name)).ready);
  await Promise.all(ready);
  await recover();
}

const pairs = SERVICES.flatMap((one, index) =>
  SERVICES.slice(index + 1).map((other) => [one, other] as const),
);

// All of them with `pnpm prove:recovery`. By default the pair that stores what a read needs.
const chosenPairs = process.env['E2E_RECOVERIES'] === 'all' ? pairs : [['authorization', 'consent'] as const];

/** The ids of the person's readings, for their app, through each gateway. */
function readIds(): Promise<string[]> {
  const { app, tokens } = person;
  const ids = stack.gatewayUrls.map(async (gateway) => {
    const { body } = expectStatus(200, await app.at(gateway).read(tokens.accessToken, HEART_PATH));
    return body.data[0].id;
  });
  return Promise.all(ids);
}

test.each(chosenPairs)('%s and %s recover from a kill when the second starts first', async (one, other) => {
  await killAndStart([one, other], [other, one]);
});

test('all four services recover when callers start first, and data has the same ids as before on every gateway', async () => {
  const before = await readIds();
  expect(new Set(before).size).toBe(1);
  await killAndStart(SERVICES, ['gateway-1', 'authorization', 'health-data', 'consent']);
  expect(await eventually(readIds)).toEqual(before);
});

test('all four services recover when dependencies start first', async () => {
  await killAndStart(SERVICES, ['consent', 'health-data', 'authorization', 'gateway-1']);
});

/** Every endpoint that needs an access record. */
const DATA_PATHS = ENDPOINTS.flatMap(({ path }) =>
  path.includes(':category')
    ? CATEGORY_SLUGS.map((category) => path.replace(':category', category))
    : [path.replace(/:\w+/, 'nobodys')],
).map((path) => API_PREFIX + path);

function read(token: string, path: string): Promise<Answer> {
  return sendWithLimit(stack.gateway + path, { bearer: token });
}

function expectNothing(answer: Answer): void {
  expect(answer.body).toEqual({
    type: '/problems/access-not-recorded',
    title: 'Access not recorded',
    status: 503,
    code: 'ACCESS_NOT_RECORDED',
    detail: expect.any(String),
    requestId: expect.any(String),
  });
  expect(answer.status).toBe(503);
  expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(answer.headers.get('etag')).toBeNull();
}

test("without consent's database every data endpoint answers ACCESS_NOT_RECORDED, and recovers automatically", async () => {
  const { app, session } = person;
  const known = await app.connect(session, SCOPE_NAMES);
  expectStatus(200, await read(known.accessToken, HEART_PATH));
  const unseen = await app.connect(session, ['read:health-data:heart']);
  expect(DATA_PATHS.length).toBe(23);

  const giveBack = await lockOutOfDatabase(stack, 'phds_consent');
  for (const path of DATA_PATHS) expectNothing(await read(known.accessToken, path));
  expectNothing(await read(unseen.accessToken, HEART_PATH));
  // An unknown token still gets 401.
  expect((await read(`${unseen.accessToken.slice(0, -1)}!`, HEART_PATH)).status).toBe(401);
  // A revocation that cannot be made is not acknowledged.
  const grant = `${stack.gateway}/partner/consent/grants/${known.grantId}`;
  expect((await sendWithLimit(grant, { method: 'DELETE', bearer: session })).status).toBe(503);
  expect((await app.revoke(unseen.accessToken)).status).toBe(503);
  expect((await app.refresh(unseen.refreshToken)).status).toBe(503);
  expectNothing(await read(unseen.accessToken, HEART_PATH));
  await giveBack();

  await recover();
  await eventually(async () => expectStatus(200, await read(known.accessToken, HEART_PATH)));
});

describe('an erasure', () => {
  const PERSON = 'person-to-erase';

  let erased: ConnectedPerson;

  /** Tables of all services that contain the person's id. */
  function findTraces(): Promise<string[]> {
    return asAdmin(stack, async (database) => {
      const { rows } = await database.query<{ name: string }>(
        `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables
         WHERE schemaname IN ('authorization', 'consent', 'consent_audit', 'health_data')`,
      );
      const found: string[] = [];
      for (const { name } of rows) {
        const contains = `SELECT 1 FROM ${name} t WHERE t::text LIKE $1 LIMIT 1`;
        const { rowCount } = await database.query(contains, [`%${PERSON}%`]);
        if (rowCount !== 0) found.push(name);
      }
      return found;
    });
  }

  const erase = (...more: string[]) =>
    runAsOperator(stack, ['erase', '--user', PERSON, '--confirm', PERSON, '--reason', 'a proof', ...more]);

  beforeAll(async () => {
    // An app of another developer: the person's own apps are removed with the person.
    const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
    erased = { ...(await connectPerson(stack, PERSON)), app };
    erased.tokens = await app.connect(erased.session, ['read:health-data:heart', 'read:profile']);
    await useEverything(erased);
  });

  test('a person is removed from every service, and a repeated run completes an interrupted one', async () => {
    expect((await findTraces()).length).toBeGreaterThan(5);
    expect(await erase()).toMatchObject({ code: 1, errors: expect.stringContaining('owns 1 apps') });
    expectStatus(200, await erased.app.read(erased.tokens.accessToken, HEART_PATH));

    await processOf(stack, 'health-data').stop();
    const cutShort = await erase('--revoke-apps');
    expect(cutShort).toMatchObject({ code: 1, errors: expect.stringContaining('run it again') });
    expect(cutShort.document.removed).toMatchObject({ authorization: { apps: 1 }, consent: { grants: 2 } });
    await processOf(stack, 'health-data').start();

    expect(await erase('--revoke-apps')).toMatchObject({ code: 0, errors: '' });
    expect(await findTraces()).toEqual([]);
    // The gateway reconnects to health-data after a while; until then, a 503 says nothing about the person.
    await recover();
    expectStatus(401, await erased.app.read(erased.tokens.accessToken, HEART_PATH));
    expect(await erase()).toMatchObject({ code: 0 });
  });
});
