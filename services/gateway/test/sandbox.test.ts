import { beforeEach, describe, expect, test } from '@jest/globals';
import { SandboxGrantChange } from '@phds/contracts/phds/consent/v1/sandbox_pb';
import { SandboxDataChange } from '@phds/contracts/phds/healthdata/v1/sandbox_pb';
import { AppError, notFound, unavailable } from '@phds/service-kit/errors';
import { shareCaller, shareTestGateway, startTestGateway } from './test-gateway.ts';

describe('approvals in the sandbox', () => {
  const gateway = shareTestGateway({ SANDBOX: 'true' });
  const { session } = shareCaller(gateway, 'dev');

  const CLIENT = 'app_sandbox_1';
  const REQUEST_URI = 'urn:ietf:params:oauth:request_uri:apr_1';
  const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
  const QUERY = `client_id=${CLIENT}&redirect_uri=https%3A%2F%2Fa.test%2Fcb&scope=read:mood&login_hint=ben`;
  const CALLBACK = 'https://a.test/cb?code=c&state=s';
  const USER = `sandbox:${CLIENT}:ben`;

  beforeEach(() => {
    answer();
  });

  const opened = () => ({ pendingId: 'apr_1', requestUri: REQUEST_URI, expiresInSeconds: 600 });
  const completed = (redirectUri = CALLBACK, userId = USER) => ({
    redirectUri,
    redirectHost: new URL(redirectUri).host,
    userId,
  });

  function answer(more: object = {}) {
    gateway.backends.answer({
      openAuthorization: opened,
      resolveRequestUri: () => ({ pendingId: 'apr_1' }),
      completeSandboxAuthorization: () => completed(),
      ...more,
    });
  }

  const open = (query = QUERY, headers: Record<string, string> = {}) =>
    gateway.fetch(`/oauth/authorize?${query}`, { headers, redirect: 'manual' });

  describe('opening the approval link of a sandbox app', () => {
    test.each([
      ['with the parameters', QUERY],
      ['with a pushed request', `client_id=${CLIENT}&request_uri=${encodeURIComponent(REQUEST_URI)}`],
    ])('%s returns to the app at once, after the data of the person is made', async (_, query) => {
      const response = await open(query);
      expect([response.status, response.headers.get('location')]).toEqual([303, CALLBACK]);
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(gateway.backends.calls.map(({ rpc }) => rpc).slice(1)).toEqual([
        'completeSandboxAuthorization',
        'preparePerson',
      ]);
      expect(gateway.backends.callsOf('completeSandboxAuthorization')[0]?.request).toMatchObject({
        clientId: CLIENT,
        pendingId: 'apr_1',
      });
      expect(gateway.backends.callsOf('preparePerson')[0]?.request).toMatchObject({ userId: USER });
    });

    test('passes login_hint on, and for a live app too, which still gets the approval screen', async () => {
      await open();
      const live = await open(QUERY.replace(CLIENT, 'app_1'));
      expect(live.headers.get('location')).toMatch(/\/approve\/apr_1$/);
      const hints = gateway.backends.callsOf('openAuthorization').map(({ request }) => request['loginHint']);
      expect(hints).toEqual(['ben', 'ben']);
      expect(gateway.backends.callsOf('completeSandboxAuthorization')).toHaveLength(1);
    });

    test('returns a denial without making any data', async () => {
      const denied = 'https://a.test/cb?error=access_denied&state=s';
      answer({ completeSandboxAuthorization: () => completed(denied, '') });
      expect((await open()).headers.get('location')).toBe(denied);
      expect(gateway.backends.callsOf('preparePerson')).toEqual([]);
    });

    test('shows a stranger in a browser where the link leads, instead of sending them there', async () => {
      const response = await open(QUERY, BROWSER);
      expect(response.status).toBe(200);
      const text = await response.text();
      expect(text).toContain('made-up people');
      expect(text).toContain('<strong>a.test</strong>');
      expect(text).toContain('href="https://a.test/cb?code=c&amp;state=s"');
      const german = await open(QUERY, { ...BROWSER, 'accept-language': 'de' });
      expect(await german.text()).toContain('erfundene');
    });

    test.each([
      'http://localhost:9999/cb?code=c',
      'http://127.0.0.1:1/cb?code=c',
      'http://[::1]:1/cb?code=c',
    ])('returns a browser to the own computer (%s) at once', async (uri) => {
      answer({ completeSandboxAuthorization: () => completed(uri) });
      const response = await open(QUERY, BROWSER);
      expect([response.status, response.headers.get('location')]).toEqual([303, uri]);
    });

    test("returns the browser of the app's developer at once, and nobody else's", async () => {
      const cookie = { ...BROWSER, cookie: `session=${session()}` };
      expect((await open(QUERY, cookie)).status).toBe(303);
      expect(gateway.backends.callsOf('getApp')[0]).toMatchObject({
        session: session(),
        request: { clientId: CLIENT },
      });
      const other = { getApp: () => Promise.reject(notFound()) };
      answer(other);
      expect((await open(QUERY, cookie)).status).toBe(200);
      answer({ getApp: () => Promise.reject(unavailable()) });
      expect((await open(QUERY, cookie)).status).toBe(200);
    });

    test('is limited by address with a pushed request too, which makes data, and not for a live app', async () => {
      await using limited = await startTestGateway({
        SANDBOX: 'true',
        LIMIT_ANONYMOUS_AUTHORIZATIONS_PER_MINUTE: '2',
      });
      limited.backends.answer({
        resolveRequestUri: () => ({ pendingId: 'apr_1' }),
        completeSandboxAuthorization: () => completed(),
      });
      const statuses = async (clientId: string) => {
        const query = new URLSearchParams({ client_id: clientId, request_uri: REQUEST_URI });
        const opening = () => limited.fetch(`/oauth/authorize?${query}`, { redirect: 'manual' });
        return [(await opening()).status, (await opening()).status, (await opening()).status];
      };
      expect(await statuses(CLIENT)).toEqual([303, 303, 429]);
      expect(limited.backends.callsOf('preparePerson')).toHaveLength(2);
      expect(await statuses('app_1')).toEqual([303, 303, 303]);
    });

    test('says to try again when the data cannot be made', async () => {
      answer({ preparePerson: () => Promise.reject(unavailable()) });
      expect((await open()).status).toBe(503);
    });
  });

  test.each(['authorize', 'par'])('POST /oauth/%s names a link that approves at once', async (path) => {
    answer({ authenticateClient: () => ({ clientId: CLIENT }) });
    const body = JSON.stringify({
      client_id: CLIENT,
      client_secret: 's',
      scope: 'read:mood',
      login_hint: 'dora',
    });
    const headers = { 'content-type': 'application/json' };
    const response = await gateway.fetch(`/oauth/${path}`, { method: 'POST', headers, body });
    expect(response.status).toBe(201);
    const { approval_uri: uri } = (await response.json()) as { approval_uri: string };
    expect(uri).toBe(
      `http://localhost:8080/oauth/authorize?client_id=${CLIENT}&request_uri=${encodeURIComponent(REQUEST_URI)}`,
    );
    expect(response.headers.get('location')).toBe(uri);
    expect(gateway.backends.callsOf('openAuthorization')[0]?.request).toMatchObject({ loginHint: 'dora' });
  });
});

describe('triggers', () => {
  const gateway = shareTestGateway({ SANDBOX: 'true', LIMIT_USER_CHANGES_PER_MINUTE: '1000' });
  const { call, session } = shareCaller(gateway, 'dev');

  const CLIENT = 'app_1';
  const PATH = `/developer/apps/${CLIENT}/sandbox/triggers`;
  const USER = 'ada';

  beforeEach(() => {
    gateway.backends.answer({
      findSandboxGrant: () => ({
        userId: USER,
        scopes: ['read:mood', 'read:health-data:glucose', 'read:health-data:sleep'],
      }),
      changeSandboxGrant: () => ({ changed: true, scope: 'read:mood' }),
      changeData: () => ({ category: 'glucose', id: 'rdg_1' }),
    });
  });

  const post = (path: string, body: unknown) => call('POST', path, body);

  describe('a trigger', () => {
    test.each([
      ['grant.narrow', SandboxGrantChange.NARROW],
      ['grant.revoke', SandboxGrantChange.REVOKE],
      ['grant.expire', SandboxGrantChange.EXPIRE],
    ])('%s changes the grant for the session of the developer', async (trigger, change) => {
      const { status, body } = await post(PATH, { trigger, grantId: 'grt_1' });
      const data = { trigger, grantId: 'grt_1', changed: true, category: null, id: null, scope: 'read:mood' };
      expect([status, body]).toEqual([200, { data }]);
      expect(gateway.backends.calls).toMatchObject([
        {
          rpc: 'changeSandboxGrant',
          session: session(),
          request: { clientId: CLIENT, grantId: 'grt_1', change },
        },
      ]);
    });

    test.each([
      ['data.arrive', SandboxDataChange.ARRIVE],
      ['data.correct', SandboxDataChange.CORRECT],
      ['data.delete', SandboxDataChange.DELETE],
    ])(
      '%s changes the data of the person of the grant, in what the app may read',
      async (trigger, change) => {
        gateway.backends.answer({
          findSandboxGrant: () => ({ userId: USER, scopes: ['read:mood', 'read:health-data:glucose'] }),
          changeData: () => ({ category: 'glucose', id: 'rdg_1' }),
        });
        const { status, body } = await post(PATH, { trigger, grantId: 'grt_1' });
        const changed = { changed: true, category: 'glucose', id: 'rdg_1', scope: null };
        expect([status, body]).toEqual([200, { data: { trigger, grantId: 'grt_1', ...changed } }]);
        expect(gateway.backends.calls).toMatchObject([
          { rpc: 'findSandboxGrant', session: session(), request: { clientId: CLIENT, grantId: 'grt_1' } },
          { rpc: 'changeData', request: { userId: USER, clientId: CLIENT, change, categories: ['glucose'] } },
        ]);
      },
    );

    test.each([
      ['not found', notFound(), 404, 'NOT_FOUND'],
      ['a conflict', new AppError('conflict', 'The grant is revoked.'), 409, 'CONFLICT'],
    ])('of a grant that consent answers with %s reaches no data', async (_, error, status, code) => {
      const refuse = () => Promise.reject(error);
      gateway.backends.answer({ findSandboxGrant: refuse, changeSandboxGrant: refuse });
      for (const trigger of ['data.delete', 'grant.expire']) {
        const answer = await post(PATH, { trigger, grantId: 'grt_1' });
        expect([answer.status, answer.body.code]).toEqual([status, code]);
      }
      expect(gateway.backends.callsOf('changeData')).toEqual([]);
    });

    test.each([
      [{ trigger: 'data.explode', grantId: 'grt_1' }, 'trigger'],
      [{ grantId: 'grt_1' }, 'trigger'],
      [{ trigger: 'data.arrive' }, 'grantId'],
      [{ trigger: 'data.arrive', grantId: 7 }, 'grantId'],
      [{ trigger: 'data.arrive', grantId: 'grt_1', userId: 'ada' }, 'userId'],
    ])('with the body %j is an invalid request', async (body, parameter) => {
      const answer = await post(PATH, body);
      expect(answer).toMatchObject({ status: 400, body: { errors: [{ parameter }] } });
      expect(gateway.backends.calls).toEqual([]);
    });
  });
});

describe('a person', () => {
  const gateway = shareTestGateway({ SANDBOX: 'true' });
  const { call } = shareCaller(gateway, 'ada');
  const developer = shareCaller(gateway, 'dev');

  test('has data before anything of theirs is answered, made once, and a developer needs none', async () => {
    await developer.call('GET', '/developer/apps');
    expect(gateway.backends.callsOf('preparePerson')).toEqual([]);
    await call('GET', '/partner/consent/grants');
    await call('GET', '/partner/consent/grants');
    expect(gateway.backends.calls.map(({ rpc }) => rpc)).toEqual([
      'listApps',
      'preparePerson',
      'listGrants',
      'listGrants',
    ]);
    expect(gateway.backends.callsOf('preparePerson')[0]?.request).toMatchObject({ userId: 'ada' });
  });

  test('whose data cannot be made is told to try again', async () => {
    await using busy = await startTestGateway({ SANDBOX: 'true' });
    busy.backends.answer({ preparePerson: () => Promise.reject(unavailable()) });
    const Authorization = `Bearer ${await busy.sessions.issueSession('bob')}`;
    const response = await busy.fetch('/partner/consent/grants', { headers: { Authorization } });
    expect(response.status).toBe(503);
  });
});

describe('without the mode', () => {
  const gateway = shareTestGateway();
  const { call } = shareCaller(gateway, 'dev');

  test('no route leads to the sandbox, the document has none of it, and no rpc of it is called', async () => {
    const trigger = { trigger: 'grant.revoke', grantId: 'grt_1' };
    expect((await call('POST', '/developer/apps/app_1/sandbox/triggers', trigger)).status).toBe(404);
    await call('GET', '/partner/consent/grants');
    expect(gateway.backends.calls.map(({ rpc }) => rpc)).toEqual(['listGrants']);
    expect((await call('GET', '/developer/apps')).body.sandbox).toBe(false);
    const document = await (await gateway.fetch('/openapi.json')).text();
    expect(document).not.toMatch(/Sandbox-Force|sandbox\/triggers/);
  });
});
