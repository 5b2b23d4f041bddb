import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, type Reason, unauthorized, unavailable } from '@phds/service-kit/errors';
import { CLIENT_ASSERTION_TYPE } from '@phds/service-kit/trust/client-assertion';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { ask, bearer, liveToken, shareTestGateway, throwing } from './test-gateway.ts';

const gateway = shareTestGateway();

describe('tokens', () => {
  const JSON_TYPE = { 'content-type': 'application/json' };
  const FORM_TYPE = { 'content-type': 'application/x-www-form-urlencoded' };

  const post = (path: string, headers: Record<string, string>, body?: string) =>
    ask(gateway, `/oauth/${path}`, { method: 'POST', headers, body: body ?? null });

  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

  const ASSERTION = `client_assertion=x.y.z&client_assertion_type=${encodeURIComponent(CLIENT_ASSERTION_TYPE)}`;

  describe('a client assertion', () => {
    const send = (subject: unknown, more = '') => {
      const jwt = `e30.${Buffer.from(JSON.stringify({ sub: subject })).toString('base64url')}.x`;
      const body = `${ASSERTION.replace('x.y.z', jwt)}&grant_type=client_credentials${more}`;
      return { jwt, answer: post('token', FORM_TYPE, body) };
    };

    test('is verified by the call itself, and names its app', async () => {
      gateway.backends.answer({ issueToken: () => ({ accessToken: 'a', expiresInSeconds: 60 }) });
      const { jwt, answer } = send('app_asserted');
      await answer;
      await send('app_asserted').answer;
      const client = { clientId: 'app_asserted', clientAssertion: jwt };
      const calls = gateway.backends.callsOf('issueToken');
      expect(calls.map(({ request }) => request['client'])).toMatchObject([client, client]);
      expect(gateway.backends.callsOf('authenticateClient')).toEqual([]);
    });

    test('names no app by a text that is no client id, and does not overrule client_id', async () => {
      gateway.backends.answer({ authenticateClient: throwing(unauthorized()) });
      for (const subject of ["x'", 1, undefined]) expect((await send(subject).answer).status).toBe(401);
      expect((await send('app_1', '&client_id=app_2').answer).status).toBe(401);
      const calls = gateway.backends.callsOf('issueToken');
      const ids = calls.map(({ request }) => (request['client'] as { clientId?: string }).clientId);
      expect(ids).toEqual([undefined, undefined, undefined, 'app_2']);
    });
  });

  describe('a body', () => {
    test.each<[string, Record<string, string>, string]>([
      [
        'JSON',
        JSON_TYPE,
        '{"client_id":"app_1","client_secret":"s","grant_type":"refresh_token","refresh_token":"r"}',
      ],
      ['a form', FORM_TYPE, 'client_id=app_1&client_secret=s&grant_type=refresh_token&refresh_token=r'],
      [
        'a form with a charset',
        { 'content-type': 'Application/X-WWW-Form-urlencoded; charset=UTF-8' },
        'client_id=app%5F1&client_secret=s&grant_type=refresh_token&refresh_token=r&other=1',
      ],
      [
        'a form with a charset that forms do not have',
        { 'content-type': 'application/x-www-form-urlencoded; charset=ISO-8859-1' },
        'client_id=app%5F1&client_secret=s&grant_type=refresh_token&refresh_token=r',
      ],
      [
        'Basic and a form',
        { ...FORM_TYPE, ...basic('app%5F1:s') },
        'grant_type=refresh_token&refresh_token=r&client_id=&client_secret=',
      ],
      [
        'Basic and an equal client_id',
        { ...FORM_TYPE, ...basic('app_1:s') },
        'grant_type=refresh_token&refresh_token=r&client_id=app_1',
      ],
      [
        'Basic in small letters',
        { 'content-type': 'application/json; charset=utf8', authorization: `basic ${btoa('app_1:s')}` },
        '{"grant_type":"refresh_token","refresh_token":"r"}',
      ],
    ])('of %s is accepted', async (_, headers, body) => {
      gateway.backends.answer({
        issueToken: () => ({
          accessToken: 'a',
          expiresInSeconds: 60,
          refreshToken: 'r2',
          scope: 's',
          grantId: 'grt_1',
          sub: 'sub_1',
          patient: 'pat-1',
        }),
      });
      const { response, body: answer } = await post('token', headers, body);
      expect(gateway.backends.callsOf('issueToken')[0]?.request).toMatchObject({
        client: { clientId: 'app_1', clientSecret: 's' },
        grantType: 'refresh_token',
        refreshToken: 'r',
      });
      expect(answer).toEqual({
        access_token: 'a',
        token_type: 'Bearer',
        expires_in: 60,
        refresh_token: 'r2',
        scope: 's',
        grant_id: 'grt_1',
        sub: 'sub_1',
        patient: 'pat-1',
      });
      expect([response.headers.get('cache-control'), response.headers.get('pragma')]).toEqual([
        'no-store',
        'no-cache',
      ]);
    });

    test.each<[string, Record<string, string>, string, number]>([
      ['that is no JSON', JSON_TYPE, '{', 400],
      ['that is a list', JSON_TYPE, '[]', 400],
      ['with a number', JSON_TYPE, '{"client_id":1}', 400],
      ['with an object', JSON_TYPE, '{"scope":{"a":"b"}}', 400],
      ['with a JSON member twice', JSON_TYPE, '{"client_id":"a","client_id":"b"}', 400],
      ['with half a surrogate pair', JSON_TYPE, '{"state":"\\ud800"}', 400],
      ['with a NUL', JSON_TYPE, '{"state":"\\u0000"}', 400],
      ['with a NUL after a backslash', JSON_TYPE, '{"state":"\\\\\\u0000"}', 400],
      ['with a form parameter twice', FORM_TYPE, 'client_id=a&client_id=a', 400],
      ['with a bad percent escape', FORM_TYPE, 'client_id=%zz', 400],
      ['with two secrets', { ...FORM_TYPE, ...basic('a:b') }, 'client_secret=b', 400],
      ['with a secret and an assertion', FORM_TYPE, `client_secret=b&${ASSERTION}`, 400],
      ['with Basic and an assertion', { ...FORM_TYPE, ...basic('a:b') }, ASSERTION, 400],
      ['with an assertion of another type', FORM_TYPE, 'client_assertion=x&client_assertion_type=saml2', 400],
      ['with an assertion without its type', FORM_TYPE, 'client_assertion=x', 400],
      ['with the type of an assertion alone', FORM_TYPE, ASSERTION.replace('assertion=', 'a='), 400],
      ['with two client ids', { ...FORM_TYPE, ...basic('a:b') }, 'client_id=c', 400],
      ['of plain text', { 'content-type': 'text/plain' }, 'client_id=a', 415],
      ['in another charset', { 'content-type': 'application/json; charset=latin1' }, '{}', 415],
      ['that is compressed', { ...JSON_TYPE, 'content-encoding': 'gzip' }, '{}', 415],
      ['beyond the cap', FORM_TYPE, `state=${'x'.repeat(70_000)}`, 413],
    ])('%s is refused before authorization is called', async (_, headers, body, status) => {
      const answer = await post('token', headers, body);
      expect([answer.status, answer.body.error, answer.body.code]).toEqual([
        status,
        'invalid_request',
        'INVALID_REQUEST',
      ]);
      expect(typeof answer.body.error_description).toBe('string');
      expect(answer.response.headers.get('content-type')).toMatch(/^application\/json/);
      expect(gateway.backends.calls).toEqual([]);
    });

    test('keeps the six characters that would name a NUL', async () => {
      gateway.backends.answer({ openAuthorization: () => ({}) });
      await post('authorize', JSON_TYPE, '{"client_id":"a","state":"\\\\u0000"}');
      expect(gateway.backends.callsOf('openAuthorization')[0]?.request).toMatchObject({ state: '\\u0000' });
    });

    test('that is not UTF-8 is refused', async () => {
      const body = new Uint8Array([0x61, 0x3d, 0xff]);
      const response = await gateway.fetch('/oauth/token', { method: 'POST', headers: FORM_TYPE, body });
      expect(response.status).toBe(400);
    });

    test('keeps parameters that were sent empty, but for credentials, and omits those that were not sent', async () => {
      await post('token', FORM_TYPE, 'client_id=a&client_secret=&code=');
      const { request } = gateway.backends.callsOf('issueToken')[0] ?? {};
      expect(request).toMatchObject({ client: { clientId: 'a' }, code: '' });
      expect(request).not.toHaveProperty('client.clientSecret');
      expect(request).not.toHaveProperty('scope');
    });
  });

  describe('an error of authorization', () => {
    test.each<[Reason, boolean]>([
      ['invalid_grant', true],
      ['app_not_active', true],
      ['unavailable', false],
    ])(
      '%s has a description in the characters of RFC 6749, with the text of the service: %s',
      async (reason, hasText) => {
        gateway.backends.answer({ issueToken: throwing(new AppError(reason, 'Because of "this" — so.')) });
        const { body } = await post('token', FORM_TYPE, 'client_id=a&client_secret=b');
        expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/);
        expect(body.error_description.includes('Because of')).toBe(hasText);
      },
    );

    test.each([
      ['GET', 'token', 405, 'POST'],
      ['HEAD', 'token', 405, 'POST'],
      ['DELETE', 'authorize', 405, 'GET, POST'],
      ['POST', 'scopes', 405, 'GET, HEAD, OPTIONS'],
      ['GET', 'nothing', 404, null],
      ['POST', 'token/', 404, null],
    ])('%s /oauth/%s is %i', async (method, path, status, allow) => {
      const response = await gateway.fetch(`/oauth/${path}`, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([status, allow]);
      if (method === 'HEAD') return;
      const body = (await response.json()) as Record<string, unknown>;
      expect(typeof body['error']).toBe('string');
      expect(body['code']).toBe(status === 404 ? 'NOT_FOUND' : 'INVALID_REQUEST');
    });
  });

  describe('revocation and introspection', () => {
    test('a revocation returns an empty object, or 503 when it may not have taken effect', async () => {
      const body = 'client_id=a&client_secret=b&token=t&token_type_hint=refresh_token';
      expect((await post('revoke', FORM_TYPE, body)).body).toEqual({});
      expect(gateway.backends.callsOf('revokeToken')[0]?.request).toMatchObject({ token: 't' });
      gateway.backends.answer({ revokeToken: throwing(unavailable()) });
      expect((await post('revoke', FORM_TYPE, body)).status).toBe(503);
    });

    test('introspection of an inactive token returns only active: false', async () => {
      gateway.backends.answer({
        introspectOwnToken: () => ({ active: false, clientId: 'app_1', scope: 'x' }),
      });
      expect((await post('introspect', FORM_TYPE, 'token=t')).body).toEqual({ active: false });
    });

    test('introspection of an active token returns the members of RFC 7662', async () => {
      const time = (seconds: number) => timestampFromDate(new Date(seconds * 1000));
      gateway.backends.answer({
        introspectOwnToken: () => ({
          active: true,
          scope: 'read:mood',
          clientId: 'app_1',
          tokenType: 'access_token',
          issuedAt: time(100),
          expiresAt: time(200),
          grantId: 'grt_1',
          patient: 'pat-1',
        }),
      });
      expect((await post('introspect', FORM_TYPE, 'token=t')).body).toEqual({
        active: true,
        patient: 'pat-1',
        scope: 'read:mood',
        client_id: 'app_1',
        token_type: 'Bearer',
        iat: 100,
        exp: 200,
        grant_id: 'grt_1',
      });
    });
  });
});

describe('own grants', () => {
  const SUB = 'sub_0123456789ABCDEFGHIJkl';
  const time = timestampFromDate(new Date('2026-03-01T10:00:00Z'));

  test('are listed for a userless token', async () => {
    gateway.backends.answer({
      introspect: () => liveToken({ principal: { userId: '' } }),
      listOwnGrants: () => ({
        grants: [
          {
            id: 'grt_2',
            sub: SUB,
            scopes: [],
            status: GrantStatus.REVOKED,
            endedAt: time,
            endedBy: 'person',
            dataFrom: '2026-01-01',
            deletionRequestedAt: time,
          },
          { id: 'grt_1', scopes: ['read:mood'], status: GrantStatus.ACTIVE },
        ],
        total: 2,
      }),
    });
    const response = await gateway.fetch('/oauth/grants', { headers: bearer() });
    expect(await response.json()).toEqual({
      data: [
        {
          id: 'grt_2',
          sub: SUB,
          scopes: [],
          status: 'revoked',
          granted_at: null,
          expires_at: null,
          data_from: '2026-01-01',
          ended_at: '2026-03-01T10:00:00.000Z',
          ended_by: 'person',
          deletion_requested_at: '2026-03-01T10:00:00.000Z',
        },
        {
          id: 'grt_1',
          sub: null,
          scopes: ['read:mood'],
          status: 'active',
          granted_at: null,
          expires_at: null,
          data_from: null,
          ended_at: null,
          ended_by: null,
          deletion_requested_at: null,
        },
      ],
      pagination: { page: 1, pageSize: 20, total: 2, totalPages: 1 },
    });
  });

  test('are restricted by status and sub, and bad values are named', async () => {
    const userless = { introspect: () => liveToken({ principal: { userId: '' } }) };
    gateway.backends.answer(userless);
    const headers = bearer();
    await gateway.fetch(`/oauth/grants?status=revoked&sub=${SUB}&page=2&deletion_requested=true`, {
      headers,
    });
    expect(gateway.backends.callsOf('listOwnGrants').at(-1)?.request).toMatchObject({
      status: GrantStatus.REVOKED,
      sub: SUB,
      page: { page: 2 },
      deletionRequested: true,
    });
    for (const [query, text] of [
      ['status=ended', 'status: must be one of active, expired, revoked'],
      ['sub=ada', 'sub: must be a `sub` that this service sent'],
      ['stauts=active', 'stauts: '],
    ] as const) {
      const response = await gateway.fetch(`/oauth/grants?${query}`, { headers });
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({
          error: 'invalid_request',
          code: 'INVALID_REQUEST',
          error_description: expect.stringContaining(text),
        }),
      ]);
    }
  });

  test('are read and ended one by one', async () => {
    gateway.backends.answer({
      introspect: () => liveToken({ principal: { userId: '' } }),
      listOwnGrants: () => ({ grants: [{ id: 'grt_1', sub: SUB, status: GrantStatus.ACTIVE }] }),
      endOwnGrant: () => ({ revokedAt: time }),
    });
    const headers = bearer();
    const read = await gateway.fetch('/oauth/grants/grt_1', { headers });
    expect(await read.json()).toMatchObject({ data: { id: 'grt_1', sub: SUB, status: 'active' } });
    expect(gateway.backends.callsOf('listOwnGrants').at(-1)?.request).toMatchObject({ grantId: 'grt_1' });
    const ended = await gateway.fetch('/oauth/grants/grt_1', { method: 'DELETE', headers });
    expect([ended.status, await ended.json()]).toEqual([
      200,
      { data: { id: 'grt_1', status: 'revoked', revoked_at: '2026-03-01T10:00:00.000Z' } },
    ]);
    expect(gateway.backends.callsOf('endOwnGrant')[0]?.request).toMatchObject({ id: 'grt_1' });
  });

  test("refuse a person's token with 403 and name the kind of token required", async () => {
    gateway.backends.answer({ introspect: () => liveToken() });
    for (const [method, path] of [
      ['GET', '?page=0'],
      ['DELETE', '/grt_1'],
    ] as const) {
      const response = await gateway.fetch(`/oauth/grants${path}`, { method, headers: bearer() });
      expect([response.status, await response.json()]).toEqual([
        403,
        {
          error: 'unauthorized_client',
          error_description: expect.stringContaining('client_credentials'),
          code: 'UNAUTHORIZED_CLIENT',
        },
      ]);
    }
    expect(new Set(gateway.backends.calls.map(({ rpc }) => rpc))).toEqual(new Set(['introspect']));
  });

  test("refuse a person's token with the uniform 401 once it is dead, even while it is cached", async () => {
    const headers = bearer();
    gateway.backends.answer({ introspect: () => liveToken() });
    expect((await gateway.fetch('/oauth/grants', { headers })).status).toBe(403);
    gateway.backends.answer({ introspect: () => ({ status: TokenStatus.DEAD }) });
    const response = await gateway.fetch('/oauth/grants', { headers });
    expect([response.status, await response.text()]).toEqual([
      401,
      '{"error":"invalid_client","error_description":"Client authentication failed.","code":"UNAUTHORIZED"}',
    ]);
    expect(response.headers.has('ratelimit')).toBe(false);
  });

  test("refuse a person's token with 503 while authorization cannot tell whether it is revoked", async () => {
    const headers = bearer();
    const unchecked = { introspect: () => ({ ...liveToken({ grant: null }), ledgerChecked: false }) };
    gateway.backends.answer(unchecked);
    const response = await gateway.fetch('/oauth/grants', { headers });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ code: 'INTERNAL_ERROR' });
    gateway.backends.answer({ introspect: () => liveToken() });
    expect((await gateway.fetch('/oauth/grants', { headers })).status).toBe(403);
    gateway.backends.answer(unchecked);
    expect((await gateway.fetch('/oauth/grants', { headers })).status).toBe(503);
  });
});

const proofKey = await createProofKey();

describe('a proof of possession', () => {
  const PUBLIC_URL = 'https://phds.example';
  const gateway = shareTestGateway({ PUBLIC_URL });

  const proofFor = (path: string, changes = {}) =>
    proofKey.prove({ method: 'POST', url: PUBLIC_URL + path, now: gateway.clock.now() }, changes);

  const post = (path: string, headers: Record<string, string>, parameters: Record<string, string>) =>
    ask(gateway, path, { method: 'POST', headers, body: new URLSearchParams(parameters) });

  const CLIENT = { client_id: 'app_1', client_secret: 's' };
  const TOKENS = { ...CLIENT, grant_type: 'client_credentials' };
  const REQUEST = { ...CLIENT, redirect_uri: 'https://app.test/', scope: 'read:profile' };

  beforeEach(() =>
    gateway.backends.answer({
      issueToken: () => ({ accessToken: 'a', expiresInSeconds: 60, scope: 's', dpopBound: true }),
      openAuthorization: () => ({ pendingId: 'apr_1', requestUri: 'urn:1', expiresInSeconds: 300 }),
    }),
  );

  test.each([
    ['/oauth/token', TOKENS, 'issueToken'],
    ['/oauth/par', REQUEST, 'openAuthorization'],
    ['/oauth/authorize', REQUEST, 'openAuthorization'],
  ] as const)('a proof at %s goes to authorization as it is', async (path, parameters, rpc) => {
    const dpop = await proofFor(path);
    const { body } = await post(path, { dpop, 'x-forwarded-host': 'other.example' }, parameters);
    expect(gateway.backends.callsOf(rpc)[0]?.request).toMatchObject({ dpop });
    if (rpc === 'issueToken') expect(body.token_type).toBe('DPoP');
  });

  describe('a request is refused before anything is looked up', () => {
    test.each<[string, () => Promise<string>]>([
      ['that is none', async () => 'x'],
      ['for another endpoint', () => proofFor('/oauth/par')],
      [
        'for the address that Host names',
        () => proofFor('/oauth/token', { claims: { htu: `${gateway.url}/oauth/token` } }),
      ],
      ['of the future', () => proofFor('/oauth/token', { claims: { iat: 99_999_999_999 } })],
    ])('with a proof %s', async (_what, make) => {
      const { status, body } = await post('/oauth/token', { dpop: await make() }, TOKENS);
      expect([status, body.error, body.code]).toEqual([400, 'invalid_dpop_proof', 'INVALID_DPOP_PROOF']);
      expect(gateway.backends.calls).toEqual([]);
    });

    test('with two proofs', async () => {
      const two = `${await proofFor('/oauth/token')}, ${await proofFor('/oauth/token')}`;
      const { body } = await post('/oauth/token', { dpop: two }, TOKENS);
      expect(body.error).toBe('invalid_dpop_proof');
      expect(gateway.backends.calls).toEqual([]);
    });
  });
});
