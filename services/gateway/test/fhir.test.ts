import { beforeEach, describe, expect, test } from '@jest/globals';
import { FHIR_TYPES, searchParametersOf } from '@phds/catalog/fhir/resource-types';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, invalidRequest, unavailable } from '@phds/service-kit/errors';
import { newSecret } from '@phds/service-kit/secrets';
import { eventually } from '@phds/test-kit/conditions';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { scrape } from '@phds/test-kit/scrape';
import type { Answers } from './fake-backends.ts';
import {
  ask,
  bearer,
  documentOf,
  exchangeRaw,
  liveToken,
  shareTestGateway,
  startTestGateway,
  throwing,
  UNIFORM_PROBLEM,
} from './test-gateway.ts';

const gateway = shareTestGateway({ LIMITS: 'app-user=3000' });

const R4 = '/fhir/R4';
const B = `http://localhost:8080${R4}`;
const BUNDLE = documentOf({ resourceType: 'Bundle', type: 'searchset' }, { etag: 'W/"e1"' });
const HEART = 'read:health-data:heart';
const OXYGEN = 'read:health-data:oxygen';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

function answer(answers: Answers = {}): void {
  gateway.backends.answer({ introspect: () => liveToken(), read: () => BUNDLE, ...answers });
}
beforeEach(() => answer());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  ask(gateway, R4 + path, { method, headers: { ...bearer(), ...headers } });
const post = (path: string, body: string, headers: Record<string, string> = FORM) =>
  ask(gateway, R4 + path, { method: 'POST', body, headers: { ...bearer(), ...headers } });
const reads = () => gateway.backends.callsOf('read').map(({ request }) => request);
const parametersOf = (request: unknown) =>
  (request as { fhir: { parameters: { name: string; value: string }[] } }).fhir.parameters.map(
    ({ name, value }) => `${name}=${value}`,
  );

/** Binds the token to a key, and makes proofs for it. */
async function bindToken(facts: object = {}) {
  const [key, accessToken] = [await createProofKey(), newSecret('access_token')];
  answer({ introspect: () => Object.assign(liveToken(), { jkt: key.jkt, ...facts }) });
  const prove = async (method: string, path: string) => {
    const dpop = await key.prove({ method, url: B + path, accessToken, now: gateway.clock.now() });
    return { authorization: `DPoP ${accessToken}`, dpop };
  };
  return { jkt: key.jkt, prove };
}

describe('a search', () => {
  test('is sent as it came, and its Bundle returned byte for byte with all public headers', async () => {
    const response = await gateway.fetch(`${R4}/Condition?onset-date=ge2026&_count=2&_count=3`, {
      headers: bearer(),
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.from(BUNDLE.body));
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/fhir+json; charset=utf-8',
      'cache-control': 'no-store',
      etag: 'W/"e1"',
      'ratelimit-policy': '"app-user";q=3000;w=60',
      'x-request-id': expect.stringMatching(/^req_/),
    });
    expect(['link', 'api-version'].filter((name) => response.headers.has(name))).toEqual([]);
    expect(reads()).toMatchObject([
      {
        endpoint: 0,
        fhir: { base: B, resourceType: 'Condition', id: '', lenient: false },
        requestId: response.headers.get('x-request-id'),
        scope: 'read:conditions',
      },
    ]);
    expect(parametersOf(reads()[0])).toEqual(['onset-date=ge2026', '_count=2', '_count=3']);
    expect(gateway.backends.callsOf('read')[0]?.assertion).toBe('assertion-1');
  });

  test('by POST has the parameters of URL and body, and is the same as by GET', async () => {
    await post('/Observation/_search?category=vital-signs', 'code=8867-4&date=ge2026-01-01');
    await get('/Observation?category=vital-signs&code=8867-4&date=ge2026-01-01');
    const [byPost, byGet] = reads().map(({ fhir, scope }) => ({ fhir, scope }));
    expect(byPost).toEqual(byGet);
    expect((await post('/Observation/_search', '', {})).status).toBe(200);
  });

  test('as long as it may be has a next page', async () => {
    const { status } = await get(`/Observation?code=${'x'.repeat(4_080)}&_cursor=${'y'.repeat(900)}`);
    expect(status).toBe(200);
  });

  test('for the newest of one code goes in a batch, another one by itself', async () => {
    const countCalls = async () => {
      const metrics = await scrape(`http://127.0.0.1:${gateway.service.probePort}`);
      return ['Read', 'Reads'].map((rpc) =>
        metrics.sum('phds_rpc_client_duration_seconds_count', {
          rpc: `phds.healthdata.v1.HealthDataService/${rpc}`,
        }),
      );
    };
    const [alone = 0, batches = 0] = await countCalls();
    await get('/Observation?code=8867-4');
    await get('/Observation?code=8867-4&date=ge2026');
    expect(await countCalls()).toEqual([alone + 1, batches + 1]);
  });

  test('below a Patient is a search with this patient', async () => {
    await get('/Patient/pat-1/Observation?code=8867-4');
    await post('/Patient/pat-1/Observation/_search', 'code=8867-4');
    const found = reads().map((each) => [each['fhir'], parametersOf(each)]);
    const expected = [{ resourceType: 'Observation', id: '' }, ['patient=pat-1', 'code=8867-4']];
    expect(found).toMatchObject([expected, expected]);
  });

  test('is answered with 304 if the client has the Bundle, but not by POST', async () => {
    const tag = { 'if-none-match': 'W/"e1"' };
    const { status, body, response } = await get('/Observation', tag);
    expect([status, body, response.headers.get('etag')]).toEqual([304, '', 'W/"e1"']);
    expect((await post('/Observation/_search', '', { ...FORM, ...tag })).status).toBe(200);
    expect(reads()).toHaveLength(2);
  });

  test('with a bound token needs a proof for its own address and method', async () => {
    const { jkt, prove } = await bindToken();
    const search = async (method: string, path: string) => {
      const proof = await prove(method, path);
      return (await post('/Observation/_search', 'code=8867-4', { ...FORM, ...proof })).status;
    };
    expect(await search('POST', '/Observation/_search')).toBe(200);
    expect(await search('GET', '/Observation/_search')).toBe(401);
    expect(await search('POST', '/Observation')).toBe(401);
    expect(reads()).toMatchObject([{ jkt }]);
  });
});

test('a read has an id and no parameters', async () => {
  answer({ read: () => documentOf({ resourceType: 'Observation' }) });
  expect((await get('/Observation/rdg-0ab?_format=json&_pretty=true')).status).toBe(200);
  expect(reads()).toMatchObject([{ fhir: { resourceType: 'Observation', id: 'rdg-0ab', parameters: [] } }]);
  expect((await get('/Observation/rdg-0ab?code=x')).body).toMatchObject({
    issue: [{ code: 'invalid', diagnostics: 'code: is not a parameter of a read by id' }],
  });
  expect((await get('/Observation/rdg-0ab?code=x', { prefer: 'handling=lenient' })).status).toBe(200);
});

describe('the judged scopes', () => {
  const scopeOf = async (path: string) => {
    gateway.backends.calls.length = 0;
    const { status, body } = await get(path);
    return status === 200 ? reads().map(({ scope }) => scope) : body.issue[0].details.coding[0].code;
  };
  const holding = (scopes: string[], grantScopes = scopes) =>
    answer({ introspect: () => liveToken({ principal: { scopes }, grant: { scopes: grantScopes } }) });

  test('are those of the search that token and grant have, in catalog order', async () => {
    holding(['read:mood', OXYGEN, HEART, 'read:conditions'], [HEART, 'read:mood', 'read:conditions']);
    expect(await scopeOf('/Observation')).toEqual([`${HEART} read:mood`]);
    expect(await scopeOf('/Observation?code=8867-4,59408-5')).toEqual([HEART]);
    expect(await scopeOf('/Observation/rdg-0ab')).toEqual([HEART]);
    expect(await scopeOf('/Observation/mood-0ab')).toEqual(['read:mood']);
    expect(await scopeOf('/Observation?code=59408-5')).toBe('CONSENT_REQUIRED');
    expect(await scopeOf('/Observation?code=41653-7')).toBe('INSUFFICIENT_SCOPE');
  });

  test('that lack are named', async () => {
    holding([HEART]);
    const { body, response } = await get('/Condition');
    expect(response.headers.get('www-authenticate')).toContain('scope="read:conditions"');
    expect(body.issue[0]).toMatchObject({ code: 'forbidden', diagnostics: 'The scope is read:conditions.' });
  });

  test('are fewer in a second try if one was withdrawn, and none is an error', async () => {
    let scopes = [HEART, OXYGEN];
    const refused = new AppError('consent_required', '', { requiredScope: OXYGEN });
    const read = ({ scope }: { scope: string }) => {
      if (!scope.includes(OXYGEN)) return BUNDLE;
      scopes = [HEART];
      throw refused;
    };
    answer({
      introspect: () => liveToken({ principal: { scopes: [HEART, OXYGEN] }, grant: { scopes } }),
      read,
    });
    expect(await scopeOf('/Observation')).toEqual([`${HEART} ${OXYGEN}`, HEART]);
    answer({ read: throwing(refused) });
    expect(await scopeOf('/Observation')).toBe('CONSENT_REQUIRED');
    expect(reads()).toHaveLength(2);
  });
});

describe('the 401 of a request without a live token is the same as that of the data API', () => {
  const paths = [
    '',
    '/',
    '/Observation',
    '/Observation/x',
    '/nothing',
    '/Patient/%zz/x',
    '/$export',
    '/_history',
  ];
  test.each(paths.map((path) => [path]))('for GET %s', async (path) => {
    expect(await exchangeRaw(gateway.port, `GET ${R4}${path} HTTP/1.1`)).toBe(UNIFORM_PROBLEM);
  });

  test.each([
    ['a search with a body', 'POST /fhir/R4/Observation/_search', 'code=1', TokenStatus.UNKNOWN],
    ['a batch', 'POST /fhir/R4', '{}', TokenStatus.UNKNOWN],
    ['a write', 'PUT /fhir/R4/Observation/x', '{}', TokenStatus.UNKNOWN],
    ['bad parameters and a dead token', 'GET /fhir/R4/Observation?x=%zz', '', TokenStatus.DEAD],
  ])('for %s', async (_, line, body, status) => {
    answer({ introspect: () => ({ status }) });
    const head = `${line} HTTP/1.1\r\nAuthorization: ${bearer()['authorization']}\r\nContent-Type: ${FORM['content-type']}`;
    expect(await exchangeRaw(gateway.port, head, body)).toBe(UNIFORM_PROBLEM);
  });
});

describe('errors are OperationOutcomes:', () => {
  const outcomeOf = ({ status, body, response }: Awaited<ReturnType<typeof ask>>) => {
    expect(response.headers.get('content-type')).toBe('application/fhir+json; charset=utf-8');
    expect(body.resourceType).toBe('OperationOutcome');
    const [issue] = body.issue;
    expect(issue.details.coding[0].system).toBe(`${B}/CodeSystem/problem`);
    return [status, issue.code, issue.details.coding[0].code];
  };

  const reading = (error: Error): Answers => ({ read: throwing(error) });
  const introspecting = (state: object): Answers => ({ introspect: () => state });
  const revoked = liveToken({ grant: { status: GrantStatus.REVOKED } });
  test.each<[string, string, Answers]>([
    ['an expired token', '401 expired TOKEN_EXPIRED', introspecting({ status: TokenStatus.EXPIRED })],
    ['no consent', '403 forbidden CONSENT_REQUIRED', introspecting(revoked)],
    ['no resource', '404 not-found NOT_FOUND', reading(new AppError('not_found'))],
    ['an expired cursor', '410 expired CURSOR_EXPIRED', reading(new AppError('cursor_expired', 'Over.'))],
    ['a bad cursor', '400 invalid INVALID_REQUEST', reading(invalidRequest('_cursor', 'is broken'))],
    ['no record', '503 transient ACCESS_NOT_RECORDED', reading(new AppError('access_not_recorded'))],
    ['a service that is away', '503 transient INTERNAL_ERROR', { introspect: throwing(unavailable()) }],
    ['a failure', '500 exception INTERNAL_ERROR', reading(new Error('secret'))],
  ])('%s is %s', async (_, outcome, answers) => {
    answer(answers);
    const got = await get('/Observation');
    expect(outcomeOf(got).join(' ')).toBe(outcome);
    if (got.status === 503) expect(got.response.headers.get('retry-after')).toBe('1');
    expect(JSON.stringify(got.body)).not.toContain('secret');
  });

  test('a search takes from the limit what its page and its total cost; beyond it, it is 429 throttled', async () => {
    await using narrow = await startTestGateway({ LIMITS: 'app-user=12' });
    narrow.backends.answer({ introspect: () => liveToken(), read: () => BUNDLE });
    const search = (path: string) => ask(narrow, R4 + path, { headers: bearer() });
    const left = async (path: string) => {
      const { status, response } = await search(path);
      return [status, response.headers.get('ratelimit')?.split(';')[1]];
    };
    expect(await left('/Observation/rdg-1')).toEqual([200, 'r=11']);
    expect(await left('/Observation')).toEqual([200, 'r=9']);
    expect(await left('/Observation?_count=200&_total=accurate')).toEqual([200, 'r=2']);
    expect(await left('/Observation?_count=0')).toEqual([429, 'r=1']);
    const { body, response } = await search('/Observation?_count=0');
    expect([body.issue[0].code, response.headers.has('retry-after')]).toEqual(['throttled', true]);
  });

  const huge = 'x'.repeat(9_000);
  const many = Array.from({ length: 51 }, () => '_id=a').join('&');
  test.each<[string, string, number, string]>([
    ['GET', '', 404, 'not-found'],
    ['GET', '/', 404, 'not-found'],
    ['GET', '/$export', 404, 'not-found'],
    ['GET', '/Binary', 404, 'not-found'],
    ['GET', '/observation', 404, 'not-found'],
    ['GET', '/__proto__', 404, 'not-found'],
    ['GET', '/CodeSystem', 404, 'not-found'],
    ['GET', '/Observation/', 404, 'not-found'],
    ['GET', '/Observation/rdg_1', 404, 'not-found'],
    ['GET', '/Observation/a%0d%0aSet-Cookie:x', 404, 'not-found'],
    ['GET', `/Observation/${'x'.repeat(65)}`, 404, 'not-found'],
    ['GET', '/Observation/x/_history', 404, 'not-found'],
    ['GET', '/Patient/pat-1/$everything', 404, 'not-found'],
    ['GET', '/Patient/pat-1/Observation/rdg-1', 404, 'not-found'],
    ['POST', '/Observation', 405, 'not-supported'],
    ['PUT', '/Observation/x', 405, 'not-supported'],
    ['DELETE', '/Observation/x', 405, 'not-supported'],
    ['GET', '/Observation/_search', 405, 'not-supported'],
    ['GET', `/Observation?code=${huge}`, 400, 'invalid'],
    ['GET', '/Observation?code=%zz', 400, 'invalid'],
    ['GET', '/Observation?code=', 400, 'invalid'],
    ['GET', '/Observation?cod=8867-4', 400, 'invalid'],
    ['GET', '/Observation?__proto__=1', 400, 'invalid'],
    ['GET', '/Observation?code:not=1', 400, 'invalid'],
    ['GET', '/Observation?_include=*', 400, 'invalid'],
    ['GET', '/Observation?date=ne2026', 400, 'invalid'],
    ['GET', `/Observation?${many}`, 400, 'invalid'],
    ['GET', '/Observation?_format=xml', 406, 'not-supported'],
    ['GET', '/Observation/x?_format=application/fhir%2Bxml', 406, 'not-supported'],
    ['GET', '/Observation?_format=application/fhir%2Bjson;fhirVersion=3.0', 406, 'not-supported'],
    ['GET', '/Patient/pat-1/Observation/_search', 405, 'not-supported'],
  ])('%s %s is %i %s', async (method, path, status, issue) => {
    expect(outcomeOf(await get(path, {}, method)).slice(0, 2)).toEqual([status, issue]);
    expect(reads()).toEqual([]);
  });

  test('HEAD is refused, and Allow names what a path has', async () => {
    const head = await gateway.fetch(`${R4}/Observation`, { method: 'HEAD', headers: bearer() });
    expect([head.status, head.headers.get('allow')]).toEqual([405, 'GET']);
    const { response } = await get('/Observation/_search');
    expect(response.headers.get('allow')).toBe('POST');
  });

  test('every parameter at fault is named, and a name is cut and stays in its text', async () => {
    const { body } = await get(`/Observation?_count=many&%0d%0aX:%20${'y'.repeat(500)}=1`);
    expect(body.issue).toMatchObject([
      {
        details: { text: 'Invalid request' },
        diagnostics: expect.stringMatching(/^_count: must be a number; \r\nX: y{90,96}…: has a modifier/),
      },
    ]);
  });

  test.each([
    ['JSON', { 'content-type': 'application/json' }, '{}', 415],
    ['too large', FORM, `code=${'x'.repeat(70_000)}`, 413],
    ['with a bad escape', FORM, 'code=%zz', 400],
    ['with too many parameters', FORM, many, 400],
    ['with NUL', FORM, 'code=%00', 400],
    ['too long for a link', FORM, `code=${'x'.repeat(5_000)}`, 400],
  ])('a body that is %s is refused', async (_, headers, body, status) => {
    expect(outcomeOf(await post('/Observation/_search', body, headers))[0]).toBe(status);
  });
});

describe('the client', () => {
  test.each([
    ['application/json', 200],
    ['application/fhir+json', 200],
    ['application/fhir+xml;q=0.9, application/fhir+json; fhirVersion=4.0', 200],
    ['text/html, */*;q=0.8', 200],
    ['APPLICATION/*', 200],
    ['', 200],
    ['application/fhir+xml', 406],
    ['text/turtle, application/fhir+json;q=0', 406],
    ['application/fhir+json; fhirVersion=3.0', 406],
    ['application/fhir+json; fhirVersion="4.0"', 200],
  ])('that accepts %p gets %i', async (accept, status) => {
    expect((await get('/Observation', { accept })).status).toBe(status);
    expect((await get('/metadata', { accept })).status).toBe(status);
  });

  const formats = ['json', 'application/json', 'application/fhir%2Bjson', 'application/fhir+json'];
  test.each([...formats, 'application/fhir%2Bjson;fhirVersion=4.0'])(
    'may ask for _format=%s, whatever it accepts',
    async (format) => {
      const { status } = await get(`/Observation?_format=${format}`, { accept: 'text/html' });
      expect([status, parametersOf(reads()[0])]).toEqual([200, ['_format=json']]);
    },
  );

  test.each([
    ['handling=lenient', true],
    ['respond-async, Handling="lenient"', true],
    ['handling=strict', false],
    ['nothandling=lenient', false],
  ])('that prefers %s has unknown parameters ignored: %p', async (prefer, lenient) => {
    expect((await get('/Observation?colour=red', { prefer })).status).toBe(lenient ? 200 : 400);
    if (lenient) expect(reads()).toMatchObject([{ fhir: { lenient, parameters: [{ name: 'colour' }] } }]);
  });

  test('in a page may read answers', async () => {
    const { response } = await get('/Observation', { origin: 'https://a.test' });
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    const preflight = {
      method: 'OPTIONS',
      headers: { origin: 'https://a.test', 'access-control-request-method': 'POST' },
    };
    const { status, headers } = await gateway.fetch(`${R4}/Observation/_search`, preflight);
    expect([status, headers.get('access-control-allow-headers')]).toEqual([
      204,
      expect.stringContaining('Prefer'),
    ]);
  });
});

describe('the public documents', () => {
  const json = async (path: string) => (await ask(gateway, R4 + path)).body;

  test.each([
    '/metadata',
    '/.well-known/smart-configuration',
    '/CodeSystem/metric',
    '/CodeSystem/category',
    '/CodeSystem/problem',
  ])('%s is open to every origin, and only to be read', async (path) => {
    const { status, headers } = await gateway.fetch(R4 + path, { headers: { origin: 'https://a.test' } });
    expect([status, headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    const written = await ask(gateway, R4 + path, { method: 'POST' });
    expect([written.status, written.body.issue[0].code]).toEqual([405, 'not-supported']);
  });

  test('the CapabilityStatement names what is served, and nothing else is', async () => {
    const { fhirVersion, format, implementation, rest } = await json('/metadata');
    expect([fhirVersion, format[0], implementation.url]).toEqual(['4.0.1', 'json', B]);
    expect(rest[0].security.extension[0].extension).toContainEqual({
      url: 'token',
      valueUri: 'http://localhost:8080/oauth/token',
    });
    const listed = new Map<string, string[]>(
      rest[0].resource.map(({ type, searchParam }: { type: string; searchParam: { name: string }[] }) => [
        type,
        searchParam.map(({ name }) => name),
      ]),
    );
    const values: Readonly<Record<string, string>> = {
      date: '2026',
      'onset-date': '2026',
      'effective-time': '2026',
    };
    const names = [
      ...new Set([...FHIR_TYPES.flatMap(searchParametersOf), 'onset', 'encounter', 'performer']),
    ];
    for (const type of [...FHIR_TYPES, 'Binary', 'Encounter', 'Immunization']) {
      const served: string[] = [];
      for (const name of names) {
        if ((await get(`/${type}?${name}=${values[name] ?? 'x'}`)).status === 200) served.push(name);
      }
      expect([type, served.sort()]).toEqual([type, (listed.get(type) ?? []).sort()]);
    }
    const profiles = rest[0].resource.flatMap(
      ({ supportedProfile = [] }: { supportedProfile?: string[] }) => supportedProfile,
    );
    const usCore = (name: string) => `http://hl7.org/fhir/us/core/StructureDefinition/us-core-${name}`;
    expect(profiles).toEqual(expect.arrayContaining(['patient', 'blood-pressure'].map(usCore)));
    expect(listed.get('Observation')).toEqual(expect.arrayContaining(['patient', 'category', 'combo-code']));
  });

  test('the code systems are complete', async () => {
    const metric = await json('/CodeSystem/metric');
    expect(metric).toMatchObject({ url: `${B}/CodeSystem/metric`, content: 'complete' });
    expect(metric.concept).toHaveLength(metric.count);
    expect(metric.concept).toContainEqual({ code: 'heart-rate', display: 'Heart Rate' });
    expect((await json('/CodeSystem/category')).concept).toContainEqual({
      code: 'symptoms',
      display: 'Symptoms',
    });
    expect((await json('/CodeSystem/problem')).concept).toContainEqual({
      code: 'NOT_FOUND',
      display: 'not found',
    });
  });
});

test('requests are counted by type, in metrics and as refusals of the app', async () => {
  await using other = await startTestGateway({}, { constants: { USAGE_INTERVAL_MS: 10 } });
  other.backends.answer({ introspect: () => liveToken(), read: throwing(new AppError('not_found')) });
  for (const path of ['/Observation/rdg-1', '/Patient/pat-7/Condition', '/secret', '/Condition/rdg-1/x'])
    await ask(other, R4 + path, { headers: bearer() });
  const names = [`${R4}/Observation/{id}`, `${R4}/Condition`, `${R4}/*`];
  await eventually(() => {
    const counts = other.backends
      .callsOf('countRefusals')
      .flatMap(({ request }) => request['refusals'] as { endpoint: string }[]);
    expect(new Set(counts.map(({ endpoint }) => endpoint))).toEqual(new Set(names));
  });
  const metrics = await scrape(`http://127.0.0.1:${other.service.probePort}`);
  const endpoints = names.map((endpoint) =>
    metrics.sum('phds_http_request_duration_seconds_count', { endpoint }),
  );
  expect(endpoints).toEqual([1, 1, 0]);
});
