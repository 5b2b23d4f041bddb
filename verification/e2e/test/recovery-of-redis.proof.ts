import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { RAISED_LIMITS } from '@phds/local-stack/service-environments';
import { expectStatus, type PartnerApp } from '@phds/running-system/partner-app';
import { type Answer, send } from '@phds/running-system/request';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import {
  type ConnectedPerson,
  connectPerson,
  HEART_PATH,
  useEverything,
} from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import { createTestRedis, describeWithRedis, type TestRedis } from '@phds/test-kit/redis';
import { Redis } from 'ioredis';
import pg from 'pg';

const LIMIT = 60;
const GATEWAYS = 2;

let redis: TestRedis;
let stack: RunningStack;

async function countRefusedRecords(): Promise<number> {
  const client = new pg.Client({ connectionString: stack.databases.consent.ownerUrl });
  await client.connect();
  const { rows } = await client.query(
    'SELECT count(*)::int AS n FROM access_record WHERE refers_to IS NOT NULL',
  );
  await client.end();
  return rows[0].n;
}

/** Reads at every gateway. */
function readEverywhere(app: PartnerApp, token: string): Promise<Answer[]> {
  return Promise.all(stack.gatewayUrls.map((gateway) => app.at(gateway).read(token, HEART_PATH)));
}

function remaining({ headers }: Answer): number {
  return Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
}

async function untilGatewaysListen(): Promise<void> {
  const client = new Redis(redis.url);
  await eventually(async () => {
    const [, listeners] = (await client.pubsub('NUMSUB', 'phds.events.v1')) as [string, number];
    return listeners === GATEWAYS;
  });
  client.disconnect();
}

async function revokeGrant({ session, tokens }: ConnectedPerson): Promise<void> {
  const url = `${stack.gateway}/partner/consent/grants/${tokens.grantId}`;
  expectStatus(200, await send(url, { method: 'DELETE', bearer: session }));
}

describeWithRedis('Redis is killed and comes back', () => {
  beforeAll(async () => {
    redis = await createTestRedis();
    const gateway = { LIMITS: `${RAISED_LIMITS},app-user=${LIMIT}` };
    stack = await startRunningStack({ gateways: GATEWAYS, redisUrl: redis.url, environment: { gateway } });
  });
  afterAll(async () => {
    await stack?.[Symbol.asyncDispose]();
    await redis?.[Symbol.asyncDispose]();
  });

  test('limits are shared, counted by each gateway while Redis is down, and shared again afterwards', async () => {
    const { app, tokens } = await connectPerson(stack, 'counted');
    await untilGatewaysListen();
    const shared = await readEverywhere(app, tokens.accessToken);
    expect(shared.map(remaining).sort((a, b) => a - b)).toEqual([LIMIT - 2, LIMIT - 1]);

    await redis.stop();
    const statuses: number[] = [];
    for (let turn = 0; turn <= LIMIT; turn += 1) {
      statuses.push((await app.read(tokens.accessToken, HEART_PATH)).status);
    }
    expect(new Set(statuses.slice(0, LIMIT))).toEqual(new Set([200]));
    expect(statuses.at(-1)).toBe(429);
    // Each gateway counts separately: the other one has its full quota.
    const other = app.at(stack.gatewayUrls[1] as string);
    const answer = expectStatus(200, await other.read(tokens.accessToken, HEART_PATH));
    expect(remaining(answer)).toBe(LIMIT - 1);

    await redis.start();
    let persons = 0;
    await eventually(async () => {
      // Somebody whom no gateway has counted yet: the counts of the outage end only with their minute.
      persons += 1;
      const person = await connectPerson(stack, `counted-${persons}`);
      const counts = (await readEverywhere(person.app, person.tokens.accessToken)).map(remaining);
      expect(counts.sort((a, b) => a - b)).toEqual([LIMIT - 2, LIMIT - 1]);
    });
  });

  test('after an outage, every cache drops what was revoked in the meantime', async () => {
    const person = await connectPerson(stack, 'cached');
    const { app, tokens } = person;
    for (const answer of await readEverywhere(app, tokens.accessToken)) expectStatus(200, answer);
    await redis.stop();
    await revokeGrant(person);
    await redis.start();
    await untilGatewaysListen();
    // A round trip through each gateway happens after that gateway has cleared its cache.
    await Promise.all(stack.gatewayUrls.map((gateway) => send(`${gateway}/api/versions`)));

    const before = await countRefusedRecords();
    for (const answer of await readEverywhere(app, tokens.accessToken)) expectStatus(401, answer);
    // Refused by authentication, not by the record step: no gateway considered the token live.
    expect(await countRefusedRecords()).toBe(before);
  });

  test('everything works without Redis', async () => {
    const person = await connectPerson(stack, 'without');
    await redis.stop();
    await useEverything(person);
    await redis.start();
    await useEverything(person);
  });
});
