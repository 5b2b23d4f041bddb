import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { THROWAWAY_SETTINGS } from '@phds/local-stack/servers/embedded-postgres';
import { ingestReadings } from '@phds/running-system/ingestion';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import { startRunningStack } from '@phds/running-system/running-stack';
import { sha256 } from '@phds/service-kit/secrets';
import { eventually } from '@phds/test-kit/conditions';
import { OtlpReceiver } from '@phds/test-kit/otlp-receiver';
import { scrape } from '@phds/test-kit/scrape';
import { shared } from '@phds/test-kit/shared';
import { findLeaks, type Place, readLogs, readRedis, readScrapes, readTables } from '../src/leak-search.ts';
import { SecretCollector } from '../src/secret-collector.ts';
import { findTrace, listSteps } from '../src/trace-search.ts';

const HEART = '/api/v1/health-data/heart';
const POSTGRES = { ...THROWAWAY_SETTINGS, log_statement: 'all' };
const ROUTE = 'GET /api/v1/health-data/:category';
const SERVICES = ['authorization', 'consent', 'gateway', 'health-data'];
const VALUE = 361.7;

const receiver = shared.use(await OtlpReceiver.start());
const traced = {
  // The most verbose logging, also of the database: statements and parameters are logged.
  LOG_LEVEL: 'trace',
  OTEL_EXPORTER_OTLP_ENDPOINT: receiver.endpoint,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
  OTEL_BSP_SCHEDULE_DELAY: '50',
};
const environment = {
  gateway: traced,
  authorization: traced,
  consent: traced,
  'health-data': traced,
};
const stack = shared.use(await startRunningStack({ environment, postgresSettings: POSTGRES }));
const collector = new SecretCollector(stack.gateway);
await collector.begin(stack);
const start = '2026-03-01T08:00:00Z';
await ingestReadings(stack, 'ada', [{ type: 'HRV', start, end: start, value: VALUE }]);
const tokens = await collector.exchange(await collector.newCode());

const read = (headers = {}) => send(stack.gateway + HEART, { bearer: tokens.accessToken, headers });
const idOf = (answer: { headers: Headers }) => answer.headers.get('X-Request-Id') ?? '';

/** The trace of a request when its first span and all these steps have arrived. */
function untilTraced(requestId: string, expected: Record<string, string[]>) {
  return eventually(() => {
    const trace = findTrace(receiver, requestId);
    expect(listSteps(trace)).toEqual(expected);
    return trace;
  });
}

/** The metrics of each service. The counts below need a stack that nobody else uses. */
async function scrapeAll() {
  const urls = { ...stack.probeUrls, gateway: stack.gatewayProbeUrls[0] ?? '' };
  const scraped = Object.entries(urls).map(async ([name, url]) => [name, await scrape(url)] as const);
  return Object.fromEntries(await Promise.all(scraped));
}

test('two reads, a refusal of each kind and a revocation are each counted once', async () => {
  const { session } = collector;
  const app = await registerApp(stack.gateway, session);
  const before = await scrapeAll();
  let after = before;
  const gained = ([service, name, labels = {}]: Count) =>
    (after[service]?.sum(name, labels) ?? 0) - (before[service]?.sum(name, labels) ?? 0);
  type Count = readonly [service: string, name: string, labels?: Readonly<Record<string, string>>];

  const { accessToken, grantId } = await app.connect(session, ['read:health-data:heart']);
  for (const _ of ['found at authorization', 'found in the cache']) {
    expectStatus(200, await app.read(accessToken, HEART));
  }
  expectStatus(403, await app.read(accessToken, '/api/v1/mood'));
  expectStatus(401, await app.read('phds_at_unknown', HEART));
  expectStatus(404, await send(`${stack.gateway}/nothing`));
  const wrong = { client_id: app.clientId, client_secret: `${app.clientSecret}x` };
  const own = { grant_type: 'client_credentials', ...wrong };
  expectStatus(401, await send(`${stack.gateway}/oauth/token`, { json: own }));
  const grant = `${stack.gateway}/partner/consent/grants/${grantId}`;
  expectStatus(200, await send(grant, { bearer: session, method: 'DELETE' }));

  const http = 'phds_http_request_duration_seconds_count';
  const [callee, caller] = [
    'phds_rpc_server_duration_seconds_count',
    'phds_rpc_client_duration_seconds_count',
  ];
  const endpoint = '/api/v1/health-data/:category';
  const recorded = { rpc: 'phds.consent.v1.AccessService/RecordAccess', code: 'OK' };
  const reading = { rpc: 'phds.healthdata.v1.HealthDataService/Read', code: 'OK' };
  const expected: readonly (readonly [number, ...Count])[] = [
    [2, 'gateway', http, { endpoint, method: 'GET', status: '200' }],
    [1, 'gateway', http, { endpoint, method: 'GET', status: '401' }],
    [1, 'gateway', http, { endpoint: '/oauth/token', method: 'POST', status: '401' }],
    [1, 'gateway', http, { endpoint: 'other', method: 'GET', status: '404' }],
    [1, 'gateway', 'phds_token_cache_lookups_total', { result: 'miss' }],
    [2, 'gateway', 'phds_token_cache_lookups_total', { result: 'hit' }],
    [2, 'gateway', caller, { rpc: 'phds.healthdata.v1.HealthDataService/Reads', code: 'OK' }],
    [2, 'health-data', callee, reading],
    [2, 'health-data', 'phds_read_batch_size_sum'],
    [2, 'health-data', caller, recorded],
    [2, 'consent', callee, recorded],
    [2, 'consent', 'phds_access_verdicts_total', { verdict: 'released' }],
    [2, 'consent', 'phds_access_batch_records_sum'],
    [2, 'consent', 'phds_access_batch_duration_seconds_count', { step: 'insert' }],
    [2, 'consent', 'phds_access_batch_duration_seconds_count', { step: 'judge' }],
    [1, 'consent', 'phds_revocation_duration_seconds_count', { kind: 'grant' }],
    [0, 'consent', 'phds_access_not_recorded_total'],
    [1, 'authorization', 'phds_tokens_issued_total', { grant_type: 'authorization_code' }],
    [1, 'authorization', 'phds_client_authentications_total', { result: 'refused' }],
  ];
  // A request is measured when its connection has sent the answer, which may be after the client has it.
  await eventually(async () => {
    after = await scrapeAll();
    expect(expected.map(([, ...count]) => [gained(count), ...count])).toEqual(expected);
  });
  expect(after['gateway']?.sum('phds_http_requests_in_flight')).toBe(0);
  expect(after['consent']?.sum('phds_access_queue_length')).toBe(0);
});

let firstRequest = '';

test('a data request is one trace through all four services, Postgres and Redis', async () => {
  const answer = expectStatus(200, await read());
  expect(answer.text).toContain(String(VALUE));
  firstRequest = idOf(answer);
  const trace = await untilTraced(firstRequest, {
    gateway: [ROUTE, 'IntrospectTokens', 'Reads', 'redis'],
    authorization: ['CheckLivenesses', 'IntrospectTokens', 'postgresql'],
    consent: ['CheckLivenesses', 'RecordAccess', 'postgresql'],
    'health-data': ['Reads', 'RecordAccess', 'postgresql'],
  });
  const ids = new Set(trace.map(({ spanId }) => spanId));
  const roots = trace.filter(({ parentSpanId }) => !ids.has(parentSpanId));
  expect(roots).toMatchObject([
    { name: ROUTE, parentSpanId: '', attributes: { 'http.response.status_code': 200 } },
  ]);
});

test('every service logs the id of the request, and of its trace', async () => {
  expect(firstRequest).not.toBe('');
  const [{ traceId = '' } = {}] = findTrace(receiver, firstRequest);
  // The database logs statements with their parameters, and not as JSON.
  const logs = (await readLogs(stack)).filter(({ name }) => name !== 'log postgres.log');
  const lines = logs.flatMap(({ text }) => text.split('\n'));
  const ofRequest = lines.filter((line) => line.includes(firstRequest)).map((line) => JSON.parse(line));
  expect([...new Set(ofRequest.map(({ service }) => service))].toSorted()).toEqual(SERVICES);
  expect(new Set(ofRequest.map((line) => line.traceId))).toEqual(new Set([traceId]));
});

test("a sender's trace context is linked, but neither continued nor allowed to prevent a trace", async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const answer = expectStatus(200, await read({ traceparent: `00-${traceId}-b7ad6b7169203331-00` }));
  const trace = await eventually(() => {
    const found = findTrace(receiver, idOf(answer));
    expect(found.map(({ name }) => name)).toContain(ROUTE);
    return found;
  });
  const root = trace.find(({ name }) => name === ROUTE);
  expect(root).toMatchObject({ parentSpanId: '', links: [{ traceId, spanId: 'b7ad6b7169203331' }] });
  expect(root?.traceId).not.toBe(traceId);
  for (const name of ['traceparent', 'tracestate', 'server-timing']) {
    expect(answer.headers.has(name)).toBe(false);
  }
});

test('the uniform 401 is the same with a trace, and names neither trace nor request', async () => {
  const refused = (headers = {}) => send(stack.gateway + HEART, { bearer: 'wrong', headers });
  const [plain, traced] = [
    await refused(),
    await refused({ traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01` }),
  ];
  const partsOf = ({ status, headers, text }: Awaited<ReturnType<typeof refused>>) => {
    return { status, text, headers: [...headers].filter(([name]) => name !== 'date') };
  };
  expect(partsOf(traced)).toEqual(partsOf(plain));
  expect(partsOf(plain)).toMatchObject({ status: 401 });
  expect([...plain.headers.keys()]).not.toEqual(
    expect.arrayContaining([expect.stringMatching(/trace|request-id/)]),
  );
});

describe('after a life with outages', () => {
  const from = '2026-02-27T11:22:33Z';
  const scrapes: Place[] = [];

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

  /** While services are down, errors and their causes are logged. */
  async function liveThroughOutages(): Promise<void> {
    const code = await collector.newCode();
    const tokens = await collector.exchange(await collector.newCode());
    const idToken = await collector.signInAtProvider('ada');
    const probes = new Map<string, string>(Object.entries(stack.probeUrls));
    for (const name of ['consent', 'health-data', 'authorization']) {
      await stack.processes.get(name)?.kill();
      await collector.app.read(tokens.accessToken, HEART);
      await collector.app.exchange(code.code, { code_verifier: code.verifier });
      await collector.app.refresh(tokens.refreshToken);
      await collector.app.revoke(tokens.refreshToken);
      await send(`${stack.gateway}/partner/consent/grants`, { bearer: collector.session });
      await collector.signOut(idToken);
      probes.delete(name);
      scrapes.push(...(await readScrapes([...probes.values(), ...stack.gatewayProbeUrls])));
    }
  }

  beforeAll(async () => {
    expectStatus(200, await send(`${stack.gateway}${HEART}?from=${from}`, { bearer: tokens.accessToken }));
    await liveOn();
    for (const secret of collector.oneOfEachKind()) await collector.misplace(secret);
    scrapes.push(...(await readScrapes([...Object.values(stack.probeUrls), ...stack.gatewayProbeUrls])));
    await liveThroughOutages();
    // The spans that are left are exported at the end.
    await Promise.all([...stack.processes.values()].map((process) => process.stop()));
  });

  test('no secret, no value, no id of a person and no parameter is exported', () => {
    const canaries = new Map([
      ...collector.collected.secrets,
      ...collector.collected.states,
      ['value', String(VALUE)],
      ['parameter', from],
      ['app', collector.app.clientId],
      ['grant', tokens.grantId],
    ]);
    const text = receiver.bodies.join('\n');
    expect(text).toContain('readings-newest');
    expect(findLeaks([{ name: 'traces', text }], canaries)).toEqual([]);
    expect(text).not.toMatch(/\bada\b|url\.|[?&]from=/);
  });

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
    // Only the latest secret of an app is stored, and the latest two refresh tokens of a connection: no connection here has had three.
    const missing = kept.filter(([, secret]) => !text.includes(`\\x${sha256(secret).toString('hex')}`));
    const names = new Set(missing.map(([name]) => name.replace(/ \d+$/, '')));
    expect(names).toEqual(new Set(['client secret']));
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
});
