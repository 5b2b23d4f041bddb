import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ingestReadings } from '@phds/running-system/ingestion';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import type { Connection } from '@phds/sdk';

const START = Date.parse('2026-03-01T00:00:00Z');
const READINGS = 60;
const PAGE_SIZE = 10;

let stack: RunningStack;
let connection: Connection;

beforeAll(async () => {
  stack = await startRunningStack({ redis: false });
  const session = await signIn(stack, 'iterating');
  const readings = Array.from({ length: READINGS }, (_, minute) => ({
    type: 'Heart Rate',
    start: new Date(START + minute * 60_000).toISOString(),
    value: 60 + (minute % 30),
  }));
  await ingestReadings(stack, 'iterating', readings);
  const app = await registerApp(stack.gateway, session);
  const client = app.client({ retryBudgetMs: 120_000 });
  const { callbackUrl, kept } = await app.ask(session, { scopes: ['read:health-data:heart'] }, {}, client);
  connection = await client.exchange(callbackUrl, kept);
});
afterAll(async () => stack?.[Symbol.asyncDispose]());

test('a restart of any service in the middle of an iteration costs nothing', async () => {
  const restarts: Promise<void>[] = [];
  const services = ['gateway-1', 'health-data', 'consent', 'authorization'];
  const times: string[] = [];
  for await (const { timestamp } of connection.healthData('heart', { pageSize: PAGE_SIZE })) {
    times.push(timestamp);
    if (times.length % PAGE_SIZE !== 0) continue;
    // The last reading of a page was seen, so the next page is requested while this service is down.
    const name = services.shift();
    if (name !== undefined) {
      const service = stack.processes.get(name);
      await service?.kill('SIGKILL');
      restarts.push(service?.start() ?? Promise.reject(new Error(`no process ${name}`)));
    }
  }
  await Promise.all(restarts);
  expect(restarts.length).toBe(4);
  const all = Array.from({ length: READINGS }, (_, minute) =>
    new Date(START + minute * 60_000).toISOString(),
  );
  expect(times).toEqual(all.reverse());
});
