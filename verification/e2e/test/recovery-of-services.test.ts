import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ManagedProcess } from '@phds/local-stack/managed-process';
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

type Name = 'authorization' | 'consent' | 'health-data' | 'gateway-1';

const SERVICES = ['authorization', 'consent', 'health-data', 'gateway-1'] as const satisfies Name[];

let stack: RunningStack;
let person: ConnectedPerson;

beforeAll(async () => {
  stack = await startRunningStack({ gateways: 2 });
  person = await connectPerson(stack, 'connected');
});
afterAll(async () => stack?.[Symbol.asyncDispose]());

function processOf(name: string): ManagedProcess {
  const found = stack.processes.get(name);
  if (found === undefined) throw new Error(`no process ${name}`);
  return found;
}

/** Starts a service and waits until it is live. It may need other services to become ready. */
async function startUntilAlive(name: Name): Promise<{ readonly ready: Promise<void> }> {
  const ready = processOf(name).start();
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
  await Promise.all(killed.map((name) => processOf(name).kill('SIGKILL')));
  const answers = await askAround();
  for (const answer of Object.values(answers)) expectClean(answer);
  if (killed.includes('consent') || killed.includes('health-data')) expect(answers.read.status).toBe(503);
  if (killed.includes('authorization')) expect(answers.token.status).toBe(503);
  if (killed.includes('consent')) expect(answers.grants.status).toBe(503);
  const ready: Promise<void>[] = [];
  for (const name of order) ready.push((await startUntilAlive(name)).ready);
  await Promise.all(ready);
  await eventually(() => useEverything(person), { intervalMs: 100 });
}

const pairs = SERVICES.flatMap((one, index) =>
  SERVICES.slice(index + 1).map((other) => [one, other] as const),
);

// All of them with `pnpm prove:recovery`. By default the pair that stores what a read needs.
const chosenPairs = process.env['E2E_RECOVERIES'] === 'all' ? pairs : [['authorization', 'consent'] as const];

test.each(SERVICES)('%s recovers from being killed without a manual step', async (name) => {
  await killAndStart([name], [name]);
});

test.each(chosenPairs)('%s and %s recover from a kill when the second starts first', async (one, other) => {
  await killAndStart([one, other], [other, one]);
});

test('all four services recover when callers start first', async () => {
  await killAndStart(SERVICES, ['gateway-1', 'authorization', 'health-data', 'consent']);
});

test('all four services recover when dependencies start first', async () => {
  await killAndStart(SERVICES, ['consent', 'health-data', 'authorization', 'gateway-1']);
});
