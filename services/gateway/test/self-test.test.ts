import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createLogger } from '@phds/service-kit/telemetry/log';
import { Metrics } from '@phds/service-kit/telemetry/metrics';
import { eventually } from '@phds/test-kit/conditions';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { Scrape } from '@phds/test-kit/scrape';
import { runSelfTestRound, startSelfTest, toOwnUrl } from '../src/self-test/self-test.ts';

const TOKEN = 'phds_at_0123456789abcdef';
const SECRET = 'phds_cs_0123456789abcdef';
const APP = { clientId: 'app_sandbox_one', clientSecret: SECRET };

/** The requests of a round in order, each with its right answer. */
const ROUND = [
  ['POST /oauth/authorize', 201, { request_uri: 'urn:one' }],
  ['GET /oauth/authorize?client_id=app_sandbox_one&request_uri=urn%3Aone', 303, {}],
  ['POST /oauth/token', 200, { access_token: TOKEN, grant_id: 'grt_one' }],
  ['GET /api/v1/health-data/heart?pageSize=1', 200, { data: [] }],
  ['POST /oauth/token', 200, { access_token: 'phds_at_own' }],
  ['DELETE /oauth/grants/grt_one', 200, {}],
  ['GET /api/v1/health-data/heart?pageSize=1', 401, {}],
] as const;

let gateway: Awaited<ReturnType<typeof startGateway>>;

beforeEach(async () => {
  gateway = await startGateway();
});
afterEach(() => gateway[Symbol.asyncDispose]());

/** A gateway of which the test says the status of each request of a round. */
async function startGateway() {
  const received: string[] = [];
  const statuses: number[] = ROUND.map(([, status]) => status);
  const server = createServer((request: IncomingMessage, response) => {
    const place = received.length % ROUND.length;
    received.push(`${request.method} ${request.url}`);
    const headers = { location: 'http://127.0.0.1/self-test?code=one', 'content-type': 'application/json' };
    response.writeHead(statuses[place] ?? 500, headers).end(JSON.stringify(ROUND[place]?.[2]));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: toOwnUrl({ host: '0.0.0.0', port: (server.address() as AddressInfo).port }),
    received,
    statuses,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const run = (onStep: (step: string) => void = () => undefined) =>
  runSelfTestRound({ url: gateway.url, ...APP }, { signal: new AbortController().signal, onStep });

describe('a round', () => {
  test('grants, reads, ends the grant and is refused', async () => {
    const steps: string[] = [];
    expect(await run((step) => steps.push(step))).toEqual({ outcome: 'ok' });
    expect(gateway.received).toEqual(ROUND.map(([request]) => request));
    expect(steps).toEqual(['grant', 'read', 'revoke', 'refused']);
  });

  test('is stale when data is answered after the acknowledgement', async () => {
    gateway.statuses[6] = 200;
    expect(await run()).toEqual({ outcome: 'stale' });
  });

  test.each([
    [0, 401, 'grant'],
    [1, 400, 'grant'],
    [2, 503, 'grant'],
    [3, 401, 'read'],
    [4, 429, 'revoke'],
    [5, 503, 'revoke'],
    [6, 503, 'refused'],
  ])('names the step when request %i is answered %i, and no secret', async (place, status, step) => {
    gateway.statuses[place] = status;
    const result = await run();
    expect(result).toMatchObject({ outcome: 'failed', step });
    expect(result).toHaveProperty('cause.message', `answered ${status} in place of ${ROUND[place]?.[1]}`);
    expect(gateway.received).toHaveLength(place + 1);
  });

  test('fails when the gateway cannot be reached', async () => {
    await gateway[Symbol.asyncDispose]();
    expect(await run()).toMatchObject({ outcome: 'failed', step: 'grant' });
    gateway = await startGateway();
  });
});

describe('the self-test', () => {
  test('exports its rounds, logs failures without secrets, and ends with the gateway', async () => {
    const metrics = new Metrics({ service: 'gateway' });
    const clock = new FakeClock(new Date('2026-05-01T12:00:00Z'));
    const lines: string[] = [];
    const log = createLogger({ service: 'gateway', destination: { write: (line) => void lines.push(line) } });
    const scraped = async () => new Scrape(await metrics.text());
    const rounds = async (outcome: string) => (await scraped()).sum('phds_self_test_runs_total', { outcome });
    const app = { url: gateway.url, ...APP };
    const selfTest = startSelfTest({ app, intervalMs: 10, clock, metrics, log });
    expect((await scraped()).sum('phds_self_test_last_success_timestamp_seconds')).toBe(0);
    await eventually(async () => (await rounds('ok')) > 1);
    expect((await scraped()).sum('phds_self_test_last_success_timestamp_seconds')).toBe(1_777_636_800);
    expect((await scraped()).sum('phds_stale_after_ack_total')).toBe(0);
    expect(lines).toEqual([]);
    gateway.statuses[6] = 200;
    await eventually(async () => (await rounds('stale')) > 0);
    expect((await scraped()).sum('phds_stale_after_ack_total')).toBeGreaterThan(0);
    gateway.statuses[6] = 500;
    await eventually(async () => (await rounds('failed')) > 0);
    await selfTest[Symbol.asyncDispose]();
    const { length } = gateway.received;
    expect(lines.map((line) => JSON.parse(line).level)).toEqual(expect.arrayContaining(['error', 'warn']));
    expect(lines.join('')).toContain('"step":"refused"');
    expect(lines.join('')).not.toContain(TOKEN);
    expect(lines.join('')).not.toContain(SECRET);
    expect(gateway.received).toHaveLength(length);
  });
});

test.each([
  ['127.0.0.1', 'http://127.0.0.1:8080'],
  ['0.0.0.0', 'http://127.0.0.1:8080'],
  ['::', 'http://127.0.0.1:8080'],
  ['10.1.2.3', 'http://10.1.2.3:8080'],
])('a gateway that listens on %s reaches itself at %s', (host, url) => {
  expect(toOwnUrl({ host, port: 8080 })).toBe(url);
});
