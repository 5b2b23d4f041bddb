import { describe, expect, test } from '@jest/globals';
import { giveFirstReadings } from '@phds/running-system/ingestion';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { useSharedStack } from '@phds/running-system/shared-stack';
import { newId } from '@phds/service-kit/ids';
import { eventually } from '@phds/test-kit/conditions';
import { type Scrape, scrape } from '@phds/test-kit/scrape';
import { type DocumentedMetric, readMetricsTable, type ServiceName } from '../src/metrics-table.ts';

const HEART = '/api/v1/health-data/heart';
const PERSON = newId('metrics');
const UNKNOWN_PATH = `/${newId('path')}`;
const UNKNOWN_TOKEN = `phds_at_${newId('x').slice(2)}${'0'.repeat(40)}`.slice(0, 51);

type Scrapes = Readonly<Record<ServiceName, Scrape>>;

let after: Scrapes;

async function scrapeAll(): Promise<Scrapes> {
  const { probeUrls, gatewayProbeUrls } = stack;
  return {
    gateway: await scrape(gatewayProbeUrls[0] ?? ''),
    authorization: await scrape(probeUrls.authorization),
    consent: await scrape(probeUrls.consent),
    'health-data': await scrape(probeUrls['health-data']),
  };
}

/** What a counter or the count of a histogram has gained by the traffic. */
function gained(service: ServiceName, name: string, labels: Readonly<Record<string, string>> = {}): number {
  return after[service].sum(name, labels) - before[service].sum(name, labels);
}

/**
 * Whether the read after the revocation arrived before the eviction: 0 or 1. Then the token was still cached, and the record step refused
 * the read, which makes a record of the access and one of its refusal.
 */
const countLate = () => gained('consent', 'phds_access_verdicts_total', { verdict: 'grant_revoked' });

const stack = await useSharedStack();
const session = await signIn(stack, PERSON);
const app = await registerApp(stack.gateway, await signIn(stack, 'developer'));
await giveFirstReadings(stack, [PERSON]);
const before = await scrapeAll();
const tokens = await app.connect(session, ['read:health-data:heart']);
const read = expectStatus(200, await app.read(tokens.accessToken, HEART));
const requestId = read.headers.get('x-request-id') ?? '';
expectStatus(200, await app.read(tokens.accessToken, HEART));
expectStatus(403, await app.read(tokens.accessToken, '/api/v1/profile'));
await app.read(UNKNOWN_TOKEN, HEART);
expectStatus(404, await send(stack.gateway + UNKNOWN_PATH));
expectStatus(
  401,
  await send(`${stack.gateway}/oauth/token`, {
    json: {
      grant_type: 'client_credentials',
      client_id: app.clientId,
      client_secret: `${app.clientSecret}x`,
    },
  }),
);
const grant = `${stack.gateway}/partner/consent/grants/${tokens.grantId}`;
expectStatus(200, await send(grant, { bearer: session, method: 'DELETE' }));
expectStatus(401, await app.read(tokens.accessToken, HEART));
// A request is measured when its connection has sent the answer, which may be after the client has it.
await eventually(async () => {
  after = await scrapeAll();
  return gained('gateway', 'phds_http_request_duration_seconds_count', { status: '401' }) >= 3;
});

describe('after a connection, two reads and a revocation', () => {
  test('the gateway has measured each request by its endpoint and status', () => {
    const requests = (labels: Readonly<Record<string, string>>) =>
      gained('gateway', 'phds_http_request_duration_seconds_count', labels);
    const endpoint = '/api/v1/health-data/:category';
    expect(requests({ endpoint, method: 'GET', status: '200' })).toBe(2);
    expect(requests({ endpoint, method: 'GET', status: '401' })).toBe(2);
    expect(requests({ endpoint: '/oauth/token', method: 'POST', status: '401' })).toBe(1);
    expect(requests({ endpoint: 'other', method: 'GET', status: '404' })).toBe(1);
    expect(after.gateway.sum('phds_http_requests_in_flight')).toBe(0);
  });

  test('the token cache has counted its look-ups and the eviction', () => {
    expect(gained('gateway', 'phds_token_cache_lookups_total', { result: 'hit' })).toBeGreaterThanOrEqual(1);
    expect(gained('gateway', 'phds_token_cache_lookups_total', { result: 'miss' })).toBeGreaterThanOrEqual(
      2 - countLate(),
    );
  });

  test('consent has measured records, verdicts and the revocation', () => {
    expect(gained('consent', 'phds_access_verdicts_total', { verdict: 'released' })).toBe(2);
    expect(countLate()).toBeLessThanOrEqual(1);
    expect(gained('consent', 'phds_access_batch_records_sum')).toBe(2 + 2 * countLate());
    for (const step of ['insert', 'judge']) {
      const batches = gained('consent', 'phds_access_batch_duration_seconds_count', { step });
      expect(batches).toBeGreaterThanOrEqual(1);
      expect(batches).toBeLessThanOrEqual(2 + 2 * countLate());
    }
    expect(gained('consent', 'phds_revocation_duration_seconds_count', { kind: 'grant' })).toBe(1);
    expect(gained('consent', 'phds_access_not_recorded_total')).toBe(0);
    expect(after.consent.sum('phds_access_queue_length')).toBe(0);
  });

  test('authorization has counted the tokens and the secrets', () => {
    expect(gained('authorization', 'phds_tokens_issued_total', { grant_type: 'authorization_code' })).toBe(1);
    expect(gained('authorization', 'phds_client_authentications_total', { result: 'refused' })).toBe(1);
    expect(
      gained('authorization', 'phds_client_authentications_total', { result: 'accepted' }),
    ).toBeGreaterThanOrEqual(2);
  });

  test('caller and callee have measured the same rpcs', () => {
    const code = 'OK';
    const read = 'phds.healthdata.v1.HealthDataService/Read';
    const record = 'phds.consent.v1.AccessService/RecordAccess';
    expect(gained('gateway', 'phds_rpc_client_duration_seconds_count', { rpc: read, code })).toBe(2);
    expect(gained('health-data', 'phds_rpc_server_duration_seconds_count', { rpc: read, code })).toBe(2);
    expect(gained('health-data', 'phds_read_batch_size_sum')).toBe(2 + countLate());
    const calls = gained('health-data', 'phds_rpc_client_duration_seconds_count', { rpc: record, code });
    expect(gained('consent', 'phds_rpc_server_duration_seconds_count', { rpc: record, code })).toBe(calls);
    expect(calls).toBeGreaterThanOrEqual(1);
  });
});

describe('a scrape', () => {
  const documented = readMetricsTable();
  const toRow = ({ name, type }: Pick<DocumentedMetric, 'name' | 'type'>) => `${name} ${type}`;

  test.each(['gateway', 'authorization', 'consent', 'health-data'] as const)(
    'of %s has exactly the metrics of the table, and those of its process',
    (service) => {
      const { declarations } = after[service];
      const own = [...declarations].filter(([name]) => name.startsWith('phds_'));
      const expected = documented.filter(({ services }) => services.includes(service));
      const scraped = own.map(([name, { type }]) => toRow({ name, type }));
      // A metric that depends on a setting is in the scrape only with it.
      const missing = expected.filter((metric) => metric.needs === null && !scraped.includes(toRow(metric)));
      expect(missing).toEqual([]);
      expect(scraped.filter((row) => !expected.map(toRow).includes(row))).toEqual([]);
      expect([...declarations.keys()]).toEqual(
        expect.arrayContaining(['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds']),
      );
    },
  );

  test('has the labels of the table, and no other', () => {
    const labelsOf = new Map(documented.map(({ name, labels }) => [name, labels]));
    for (const { samples } of Object.values(after)) {
      for (const { name, labels } of samples) {
        if (!name.startsWith('phds_')) continue;
        const metric = labelsOf.has(name) ? name : name.replace(/_(bucket|sum|count)$/, '');
        const { le: _, ...own } = labels;
        expect([metric, Object.keys(own).toSorted()]).toEqual([metric, labelsOf.get(metric)?.toSorted()]);
      }
    }
  });

  test('has no id of a person, an app, a grant, a token or a request, and no path', () => {
    const secrets = [tokens.accessToken, tokens.refreshToken, app.clientSecret, session, UNKNOWN_TOKEN];
    const ids = [PERSON, app.clientId, tokens.grantId, requestId, UNKNOWN_PATH.slice(1)];
    expect([...secrets, ...ids]).not.toContain('');
    for (const { text } of Object.values(after)) {
      for (const known of [...secrets, ...ids]) expect(text).not.toContain(known);
      expect(text).not.toMatch(/(app|grt|fam|req|evt)_[0-9A-Za-z]{16}|phds_(cs|ac|at|rt)_[0-9A-Za-z]{8}/);
    }
  });

  test('is on no public port', async () => {
    expectStatus(404, await send(`${stack.gateway}/metrics`));
  });
});
