import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { THROWAWAY_SETTINGS } from '@phds/local-stack/servers/embedded-postgres';
import { expectStatus } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import { type RunningStack, startRunningStack } from '@phds/running-system/running-stack';
import { sha256 } from '@phds/service-kit/secrets';
import { findLeaks, type Place, readLogs, readRedis, readScrapes, readTables } from '../src/leak-search.ts';
import { SecretCollector } from '../src/secret-collector.ts';

const HEART = '/api/v1/health-data/heart';

let stack: RunningStack;
let collector: SecretCollector;
let scrapes: Place[];

// The most verbose logging, also of the database: statements and parameters are logged.
const TALKATIVE = { LOG_LEVEL: 'trace' };
const POSTGRES = { ...THROWAWAY_SETTINGS, log_statement: 'all' };

async function liveOn(): Promise<void> {
  const { app } = collector;
  const first = await collector.newCode();
  const tokens = await collector.exchange(first);
  expectStatus(200, await app.read(tokens.accessToken, HEART));
  const next = await collector.refresh(tokens.refreshToken);
  const again = await collector.refresh(tokens.refreshToken);
  expect(again).toEqual(next);
  collector.remember('access token', await app.userlessToken());
  expectStatus(200, await app.introspect(next.accessToken));
  await collector.rotate();
  // Replays a code and reuses a refresh token, because error paths log other texts.
  expectStatus(400, await app.exchange(first.code, { code_verifier: first.verifier }));
  expectStatus(400, await app.refresh(tokens.refreshToken));
  expectStatus(401, await app.read(next.accessToken, HEART));
  const receipt = `${stack.gateway}/partner/consent/grants/${tokens.grantId}/receipt`;
  expectStatus(200, await send(receipt, { bearer: collector.session }));
  const others = await collector.exchange(await collector.newCode());
  expectStatus(200, await app.revoke(others.accessToken));
  expectStatus(200, await app.revoke(others.refreshToken));
  await signInAndOut();
}

async function signInAndOut(): Promise<void> {
  for (const name of ['oidcClientSecret', 'signInKey'] as const) {
    collector.remember(name, (await readFile(stack.keys[name], 'utf8')).trim());
  }
  const idToken = await collector.signInAtProvider('ada');
  expectStatus(
    200,
    await send(`${stack.gateway}/partner/session`, { headers: { Cookie: `session=${idToken}` } }),
  );
  expectStatus(200, await collector.signOut(idToken));
}

/** While a service is down, errors and their causes are logged. */
async function liveThroughOutages(): Promise<void> {
  const code = await collector.newCode();
  const tokens = await collector.exchange(await collector.newCode());
  const idToken = await collector.signInAtProvider('ada');
  for (const name of ['health-data', 'consent', 'authorization']) {
    const process = stack.processes.get(name);
    await process?.kill();
    await collector.app.read(tokens.accessToken, HEART);
    await collector.app.exchange(code.code, { code_verifier: code.verifier });
    await collector.app.refresh(tokens.refreshToken);
    await collector.app.revoke(tokens.refreshToken);
    await send(`${stack.gateway}/partner/consent/grants`, { bearer: collector.session });
    await collector.signOut(idToken);
    await process?.start();
  }
}

beforeAll(async () => {
  const services = ['gateway', 'authorization', 'consent', 'health-data'] as const;
  const environment = Object.fromEntries(services.map((service) => [service, TALKATIVE]));
  stack = await startRunningStack({ environment, postgresSettings: POSTGRES });
  collector = new SecretCollector(stack.gateway);
  await collector.begin(stack);
  await liveOn();
  for (const secret of [...collector.collected.secrets.values()]) await collector.misplace(secret);
  scrapes = await readScrapes(stack);
  await liveThroughOutages();
  scrapes.push(...(await readScrapes(stack)));
  await Promise.all([...stack.processes.values()].map((process) => process.stop()));
});
afterAll(async () => stack?.[Symbol.asyncDispose]());

test('no secret, token, code, verifier or session is in any column of any table', async () => {
  const { secrets } = collector.collected;
  expect(secrets.size).toBeGreaterThan(20);
  const tables = await readTables(stack);
  expect(tables.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['authorization.access_token', 'consent.access_record', 'health_data.reading']),
  );
  expect(findLeaks(tables, secrets)).toEqual([]);
  // Finds secrets that were created without this test's knowledge.
  expect(tables.filter(({ text }) => /phds_(cs|ac|at|rt)_/.test(text))).toEqual([]);
});

test('the search works: it finds the SHA-256 of each secret, token and code, and the states', async () => {
  const { secrets, states } = collector.collected;
  const kept = [...secrets].filter(([name]) =>
    /^(client secret|code|access token|refresh token) \d/.test(name),
  );
  const tables = await readTables(stack);
  const text = tables.map((table) => table.text).join('\n');
  // Only the latest secret of an app is stored.
  const missing = kept.filter(([, secret]) => !text.includes(`\\x${sha256(secret).toString('hex')}`));
  expect(missing.map(([name]) => name.replace(/ \d+$/, ''))).toEqual(['client secret']);
  expect(findLeaks(tables, states).length).toBe(states.size);
});

test('no secret is in any line of any log, although the logs mention the requests', async () => {
  const logs = await readLogs(stack);
  const names = logs.map(({ name }) => name);
  for (const name of ['gateway-1', 'authorization', 'consent', 'health-data', 'postgres']) {
    expect(names).toContain(`log ${name}.log`);
  }
  const text = logs.map((log) => log.text).join('\n');
  for (const said of [
    '/oauth/token',
    '/oauth/revoke',
    '/sign-in/callback',
    '/sign-out/back-channel',
    'request failed temporarily',
    'INSERT INTO access_record',
  ]) {
    expect(text).toContain(said);
  }
  expect(findLeaks(logs, collector.collected.secrets)).toEqual([]);
  expect(logs.filter((log) => /phds_(cs|ac|at|rt)_[0-9A-Za-z]/.test(log.text))).toEqual([]);
});

test('no state is in the log of a service; the verbose database log shows that it would be found', async () => {
  const logs = await readLogs(stack);
  const { states } = collector.collected;
  const isDatabase = ({ name }: { name: string }) => name === 'log postgres.log';
  expect(findLeaks(logs.filter(isDatabase), states).length).toBe(states.size);
  expect(
    findLeaks(
      logs.filter((log) => !isDatabase(log)),
      states,
    ),
  ).toEqual([]);
});

test('no secret, token, code or state is in the metrics of any service', () => {
  const { secrets, states } = collector.collected;
  expect(new Set(scrapes.map(({ name }) => name)).size).toBe(4);
  expect(findLeaks(scrapes, new Map([...secrets, ...states]))).toEqual([]);
});

test('Redis contains no secret', async () => {
  const { url } = stack.redis;
  if (url !== null) expect(findLeaks([await readRedis(url)], collector.collected.secrets)).toEqual([]);
});
