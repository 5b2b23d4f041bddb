import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { CATEGORY_SLUGS } from '@phds/catalog/categories';
import { API_PREFIX, ENDPOINTS } from '@phds/catalog/endpoints';
import { SCOPES } from '@phds/catalog/scopes';
import { crashDatabase, freezeDatabaseSessions, lockOutOfDatabase } from '@phds/running-system/outages';
import { expectStatus } from '@phds/running-system/partner-app';
import type { Answer } from '@phds/running-system/request';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import {
  type ConnectedPerson,
  connectPerson,
  HEART_PATH,
  sendWithLimit,
  useEverything,
} from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';

const PATHS = ENDPOINTS.flatMap(({ path }) =>
  path.includes(':category')
    ? CATEGORY_SLUGS.map((category) => path.replace(':category', category))
    : [path.replace(/:\w+/, 'nobodys')],
).map((path) => API_PREFIX + path);

let stack: RunningStack;
let person: ConnectedPerson;
const undo: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  stack = await startRunningStack();
  person = await connectPerson(stack, 'connected');
});
afterAll(async () => {
  await Promise.all([...(stack?.processes.values() ?? [])].map((each) => each.stop()));
  for (const end of undo) await end();
  await stack?.[Symbol.asyncDispose]();
});

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

async function recover(): Promise<void> {
  await eventually(() => useEverything(person), { intervalMs: 100 });
}

test("without consent's database every data endpoint answers ACCESS_NOT_RECORDED, and recovers automatically", async () => {
  const { app, session } = person;
  const known = await app.connect(
    session,
    SCOPES.map(({ scope }) => scope),
  );
  expectStatus(200, await read(known.accessToken, HEART_PATH));
  const unseen = await app.connect(session, ['read:health-data:heart']);
  expect(PATHS.length).toBe(24);

  const giveBack = await lockOutOfDatabase(stack, 'phds_consent');
  for (const path of PATHS) expectNothing(await read(known.accessToken, path));
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

test('a consent database that hangs delays no request beyond its limit and releases no data', async () => {
  const { tokens } = person;
  await useEverything(person);
  // Ensures that the other services have the sessions they need, because new ones are blocked.
  await Promise.all(Array.from({ length: 10 }, () => read(tokens.accessToken, HEART_PATH)));
  const thaw = await freezeDatabaseSessions(stack, 'phds_consent');
  try {
    const answers = await Promise.all(Array.from({ length: 3 }, () => read(tokens.accessToken, HEART_PATH)));
    for (const answer of answers) expectNothing(answer);
  } finally {
    thaw();
  }
  await recover();
});

test('a consent service that hangs delays no request beyond its limit and releases no data', async () => {
  const { tokens } = person;
  const pid = stack.processes.get('consent')?.pid ?? 0;
  process.kill(pid, 'SIGSTOP');
  try {
    const answers = await Promise.all(Array.from({ length: 20 }, () => read(tokens.accessToken, HEART_PATH)));
    for (const answer of answers) expectNothing(answer);
  } finally {
    process.kill(pid, 'SIGCONT');
  }
  await recover();
});

test('when the database server crashes, no data is released, revocations stay in effect, and everything recovers', async () => {
  const { app, session, tokens } = person;
  const revoked = await app.connect(session, ['read:health-data:heart']);
  expectStatus(200, await app.revoke(revoked.refreshToken));
  const start = await crashDatabase(stack);
  // The gateway has cached the token, so health-data is the one that needs its database.
  for (let round = 0; round < 3; round += 1) {
    const answer = await read(tokens.accessToken, HEART_PATH);
    expect(answer.status).toBe(503);
    expect(answer.body.code).toMatch(/^(INTERNAL_ERROR|ACCESS_NOT_RECORDED)$/);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  }
  const token = await sendWithLimit(`${stack.gateway}/oauth/token`, {
    json: { ...app.credentials, grant_type: 'client_credentials' },
  });
  expect(token.status).toBe(503);
  expect(token.body.error).toBe('temporarily_unavailable');
  const server = await start();
  undo.push(() => server.stop());

  await recover();
  expect((await read(revoked.accessToken, HEART_PATH)).status).toBe(401);
  expect((await app.refresh(revoked.refreshToken)).status).toBe(400);
});
