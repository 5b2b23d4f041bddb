import { beforeAll, expect, test } from '@jest/globals';
import { ingest, ingestReadings } from '@phds/running-system/ingestion';
import { expectStatus, type PartnerApp, registerApp, type Tokens } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';

const USER = 'subject-sync';
const HEART = '/api/v1/health-data/heart';
const SCOPES = ['read:health-data:heart', 'read:health-data:activity'];

let stack: SharedStack;
let session: string;
let app: PartnerApp;
let tokens: Tokens;

beforeAll(async () => {
  stack = await useSharedStack();
  session = await signIn(stack, USER);
  app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  tokens = await app.connect(session, SCOPES);
});

const at = (day: number) => `2026-03-0${day}T08:00:00.000Z`;
const heart = (day: number, value: number) => {
  return { type: 'Heart Rate', value, start: at(day), end: at(day), source: 'apple-watch' };
};
const changes = (updatedSince: string) =>
  app.read(tokens.accessToken, `${HEART}?updatedSince=${updatedSince}&pageSize=2`);

/** Follows `Link` until there is no more, as a client does, and applies every change to the copy. */
async function follow(copy: Map<string, number>, start: string): Promise<string> {
  for (let path = start; ; ) {
    const { body, headers } = expectStatus(200, await app.read(tokens.accessToken, path));
    for (const { id, value, deleted } of body.data) {
      if (deleted) copy.delete(id);
      else copy.set(id, value);
    }
    const [, next = ''] = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
    expect(next).toBe(`${HEART}?pageSize=2&updatedSince=${body.sync.cursor}`);
    if (!body.sync.hasMore) return next;
    path = next;
  }
}

async function list(): Promise<Map<string, number>> {
  const { body } = expectStatus(200, await app.read(tokens.accessToken, HEART));
  return new Map(body.data.map(({ id, value }: { id: string; value: number }) => [id, value]));
}

test('an app follows inserted, changed and deleted readings by Link, until the person shares more and it starts again', async () => {
  await ingestReadings(
    stack,
    USER,
    [1, 2, 3, 4, 5].map((day) => heart(day, 60 + day)),
  );
  const copy = new Map<string, number>();
  const place = await follow(copy, `${HEART}?pageSize=2&updatedSince=1970-01-01T00:00:00Z`);
  expect(copy).toEqual(await list());
  expect(copy.size).toBe(5);

  await ingestReadings(stack, USER, [heart(2, 99), heart(6, 66)]);
  const key = { type: 'Heart Rate', start: at(1), source: 'apple-watch' };
  await ingest(stack, 'deleteReadings', { userId: USER, keys: [key] });
  const after = await follow(copy, place);
  expect(copy).toEqual(await list());
  expect([...copy.values()].sort()).toEqual([63, 64, 65, 66, 99]);

  // The person hides the first days, and shows them again.
  await app.connect(session, SCOPES, { dataFrom: '2026-03-04' });
  const hidden = await follow(copy, after);
  expect((await list()).size).toBe(3);
  await app.connect(session, SCOPES, { dataFrom: null });
  const expired = await app.read(tokens.accessToken, hidden);
  expect([expired.status, expired.body.code]).toEqual([410, 'CURSOR_EXPIRED']);
  copy.clear();
  await follow(copy, `${HEART}?pageSize=2&updatedSince=1970-01-01T00:00:00Z`);
  expect(copy).toEqual(await list());
});

test('every page of changes is in the history of the person, and none comes after a revocation', async () => {
  const other = await registerApp(stack.gateway, await signIn(stack, 'developer'));
  const { accessToken, grantId } = await other.connect(session, ['read:health-data:heart']);
  const { body } = expectStatus(
    200,
    await other.read(accessToken, `${HEART}?updatedSince=1970-01-01T00:00:00Z`),
  );
  const history = await send(`${stack.gateway}/partner/consent/grants/${grantId}/accesses`, {
    bearer: session,
  });
  expect(expectStatus(200, history).body.data).toMatchObject([
    { endpoint: HEART, scope: 'read:health-data:heart', recordCount: body.data.length },
  ]);
  // The cursor of one app is no cursor of another.
  expect((await changes(body.sync.cursor)).body).toMatchObject({
    status: 400,
    errors: [{ parameter: 'updatedSince' }],
  });
  expectStatus(
    200,
    await send(`${stack.gateway}/partner/consent/grants/${grantId}`, { method: 'DELETE', bearer: session }),
  );
  expect((await other.read(accessToken, `${HEART}?updatedSince=${body.sync.cursor}`)).status).toBe(401);
});

test('a daily chart of one category needs its scope alone, also for the time zone', async () => {
  await ingestReadings(stack, USER, [
    { type: 'Steps', value: 500, start: at(1), end: '2026-03-01T08:10:00.000Z', source: 'iphone' },
  ]);
  const zone = expectStatus(200, await app.read(tokens.accessToken, '/api/v1/time-zone')).body;
  expect(zone).toEqual({ data: { timeZone: 'UTC' } });
  const trends = expectStatus(200, await app.read(tokens.accessToken, '/api/v1/trends?type=steps')).body;
  expect(trends.data).toMatchObject([{ type: 'Steps', value: 500 }]);
  const summary = expectStatus(
    200,
    await app.read(tokens.accessToken, '/api/v1/aggregations?type=steps'),
  ).body;
  expect(summary.data.metrics).toMatchObject([{ type: 'Steps' }]);
  const all = await app.read(tokens.accessToken, '/api/v1/trends');
  expect([all.status, all.body.requiredScope]).toEqual([403, 'read:trends']);
  const history = await send(`${stack.gateway}/partner/consent/grants/${tokens.grantId}/accesses`, {
    bearer: session,
  });
  expect(expectStatus(200, history).body.data.slice(0, 3)).toMatchObject([
    { endpoint: '/api/v1/aggregations', scope: 'read:health-data:activity' },
    { endpoint: '/api/v1/trends', scope: 'read:health-data:activity' },
    { endpoint: '/api/v1/time-zone', scope: 'read:health-data:heart' },
  ]);
});
