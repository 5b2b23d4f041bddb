import { afterAll, describe, expect, test } from '@jest/globals';
import type { PageMessage } from '@phds/catalog/page-messages';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { unauthorized, unavailable } from '@phds/service-kit/errors';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { ask, messageIn, shareTestGateway, throwing, VISIT } from './test-gateway.ts';

describe('authorization requests', () => {
  const gateway = shareTestGateway();
  const JSON_TYPE = { 'content-type': 'application/json' };
  const PUBLIC_URL = 'http://localhost:8080';

  const post = (path: string, headers: Record<string, string>, body?: string) =>
    ask(gateway, `/oauth/${path}`, { method: 'POST', headers, body: body ?? null });

  describe('an authorization request', () => {
    const opened = () => ({ pendingId: 'apr_1', requestUri: 'urn:x:apr_1', expiresInSeconds: 600 });
    const body = JSON.stringify({
      client_id: 'app_1',
      redirect_uri: 'https://a.test/cb',
      scope: 'read:mood',
      state: 's t',
      aud: 'https://a.test/fhir',
    });

    test.each(['authorize', 'par'])('POST /oauth/%s opens a pending approval', async (path) => {
      gateway.backends.answer({ openAuthorization: opened });
      const { response, status, body: answer } = await post(path, JSON_TYPE, body);
      expect([status, response.headers.get('location')]).toEqual([201, `${PUBLIC_URL}/approve/apr_1`]);
      expect(answer).toEqual({
        request_uri: 'urn:x:apr_1',
        expires_in: 600,
        approval_uri: `${PUBLIC_URL}/approve/apr_1`,
        pending_id: 'apr_1',
        status: 'pending',
      });
      expect(gateway.backends.callsOf('openAuthorization')[0]?.request).toMatchObject({
        requireAuthentication: path === 'par',
        frontChannel: false,
        state: 's t',
        scope: 'read:mood',
        aud: 'https://a.test/fhir',
      });
    });

    test('a browser is redirected to the approval screen', async () => {
      gateway.backends.answer({ openAuthorization: opened });
      const accept = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
      const { response, status } = await post('authorize', { ...JSON_TYPE, ...accept }, body);
      expect([status, response.headers.get('location')]).toEqual([303, `${PUBLIC_URL}/approve/apr_1`]);
    });

    test('GET redirects to the approval screen', async () => {
      gateway.backends.answer({ openAuthorization: opened });
      const query =
        'client_id=app_1&redirect_uri=https%3A%2F%2Fa.test%2Fcb&scope=patient/*.rs+read:mood&aud=x&response_type=code&response_mode=query&state=s+t';
      const response = await gateway.fetch(`/oauth/authorize?${query}`);
      expect([response.status, response.headers.get('location')]).toEqual([
        303,
        `${PUBLIC_URL}/approve/apr_1`,
      ]);
      expect(gateway.backends.callsOf('openAuthorization')[0]?.request).toMatchObject({
        frontChannel: true,
        scope: 'patient/*.rs read:mood',
        aud: 'x',
        responseMode: 'query',
        state: 's t',
        network: expect.stringMatching(/^[\w-]{43}$/),
      });
    });

    test.each(['authorize', 'par'])('POST /oauth/%s passes errors of authorization on', async (path) => {
      gateway.backends.answer({ openAuthorization: opened });
      const pushed = { ...JSON.parse(body), request_uri: 'urn:x:apr_2', request: 'eyJ' };
      await post(path, JSON_TYPE, JSON.stringify(pushed));
      expect(gateway.backends.callsOf('openAuthorization')[0]?.request).toMatchObject({
        requestUri: 'urn:x:apr_2',
        request: 'eyJ',
      });
    });

    test('GET accepts a request_uri', async () => {
      gateway.backends.answer({ resolveRequestUri: () => ({ pendingId: 'apr_2' }) });
      const response = await gateway.fetch('/oauth/authorize?client_id=app_1&request_uri=urn%3Ax%3Aapr_2');
      expect(response.headers.get('location')).toBe(`${PUBLIC_URL}/approve/apr_2`);
    });

    test.each([
      ['request', 'request=eyJ', { request: 'eyJ' }],
      ['request_uri of a file', 'request_uri=https%3A%2F%2Fa.test%2Fr', { requestUri: 'https://a.test/r' }],
      [
        'request beside request_uri',
        'request=eyJ&request_uri=urn%3Ax',
        { request: 'eyJ', requestUri: 'urn:x' },
      ],
    ])('GET does not ignore a %s', async (_, query, fields) => {
      gateway.backends.answer({ openAuthorization: throwing(unauthorized()) });
      await gateway.fetch(`/oauth/authorize?client_id=app_1&${query}`);
      expect(gateway.backends.callsOf('openAuthorization')[0]?.request).toMatchObject(fields);
    });

    test.each([
      ['a browser', VISIT, /^\[400,.*AUTHORIZATION_LINK_INVALID/],
      ['a program', {}, /^\[400,.*invalid_request/],
    ])(
      'GET answers %s alike for every error in client, redirect URI or form',
      async (_, headers, expected) => {
        gateway.backends.answer({
          openAuthorization: throwing(unauthorized()),
          resolveRequestUri: throwing(unauthorized()),
        });
        const queries = [
          '',
          'client_id=x',
          'client_id=x&client_id=x',
          'client_id=%zz',
          'client_id=a&request_uri=b',
        ];
        const pages = await Promise.all(
          queries.map(async (query) => {
            const response = await gateway.fetch(`/oauth/authorize?${query}`, { headers });
            const text = await response.text();
            const [, nonce = 'none'] = /nonce="([^"]+)"/.exec(text) ?? [];
            const fields = [...response.headers].filter(
              ([name]) => name !== 'date' && name !== 'x-request-id',
            );
            return JSON.stringify([response.status, fields, text]).replaceAll(nonce, 'nonce');
          }),
        );
        expect(new Set(pages).size).toBe(1);
        expect(pages[0]).toMatch(expected);
        gateway.backends.answer({
          openAuthorization: throwing(unavailable()),
        });
        const away = await gateway.fetch('/oauth/authorize?client_id=x', { headers });
        expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1']);
      },
    );
  });

  describe('an error that is returned to the app', () => {
    const description = encodeURIComponent('The scope has an <unknown> value.');
    const errorRedirect = `https://a.test/cb?x="1"&error=invalid_scope&error_description=${description}&state=s`;
    const refused = () => ({ errorRedirect, errorRedirectHost: 'a.test' });
    const open = (headers: Record<string, string> = {}) =>
      gateway.fetch('/oauth/authorize?client_id=app_1', { headers: { ...VISIT, ...headers } });
    const signedIn = async () => ({ cookie: `session=${await gateway.sessions.issueSession('ada')}` });
    const answer = (...grants: { app: { clientId: string } }[]) =>
      gateway.backends.answer({
        openAuthorization: refused,
        listGrants: () => ({ grants, total: grants.length }),
      });

    test('redirects at once if the person shares data with the app', async () => {
      answer({ app: { clientId: 'app_2' } }, { app: { clientId: 'app_1' } });
      const response = await open(await signedIn());
      expect([response.status, response.headers.get('location')]).toEqual([303, errorRedirect]);
      expect(gateway.backends.callsOf('listGrants')[0]?.request).toMatchObject({
        status: GrantStatus.ACTIVE,
      });
    });

    test('otherwise shows the host, the error by its name and a link to the app, and tells a program', async () => {
      answer({ app: { clientId: 'app_2' } });
      const others = [{}, { cookie: 'session=nonsense' }, await signedIn()];
      for (const headers of others) {
        const response = await open(headers);
        const page = await response.text();
        expect([response.status, response.headers.get('location')]).toEqual([400, null]);
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(response.headers.get('cache-control')).toBe('no-store');
        const wayBack = {
          url: errorRedirect,
          host: 'a.test',
          isStranger: 'cookie' in headers && headers !== others[1],
        };
        expect(messageIn(page)).toEqual({ code: 'AUTHORIZATION_REFUSED', error: 'invalid_scope', wayBack });
        // Only in the address.
        expect(page).not.toContain('unknown&gt; value');
      }
      const ofProgram = await open({ accept: 'application/json' });
      expect([ofProgram.status, await ofProgram.json()]).toMatchObject([
        400,
        { error: 'invalid_request', error_description: 'The scope has an <unknown> value.' },
      ]);
    });

    test('is named only if it is a known one', async () => {
      const words = 'https://a.test/cb?error=call%20this%20number';
      gateway.backends.answer({
        openAuthorization: () => ({ errorRedirect: words, errorRedirectHost: 'a.test' }),
      });
      expect(messageIn(await (await open()).text())).not.toHaveProperty('error');
    });

    test('says that the person shares nothing with the app only when that is known', async () => {
      const isStranger = async (headers: Record<string, string>) =>
        (messageIn(await (await open(headers)).text()) as PageMessage).wayBack?.isStranger;
      answer({ app: { clientId: 'app_2' } });
      expect(await isStranger(await signedIn())).toBe(true);
      const unsure = [await isStranger({}), await isStranger({ cookie: 'session=nonsense' })];
      gateway.backends.answer({ openAuthorization: refused, listGrants: () => ({ grants: [], total: 101 }) });
      unsure.push(await isStranger(await signedIn()));
      gateway.backends.answer({ openAuthorization: refused, listGrants: throwing(unavailable()) });
      unsure.push(await isStranger(await signedIn()));
      expect(unsure).toEqual([false, false, false, false]);
      expect(gateway.log.join('')).toContain('grants of the person could not be read');
    });

    test('that is our own failure answers 503 without asking consent first', async () => {
      const away = 'https://a.test/cb?error=x&error=temporarily_unavailable&state=s';
      gateway.backends.answer({
        openAuthorization: () => ({ errorRedirect: away, errorRedirectHost: 'a.test' }),
        listGrants: throwing(unavailable()),
      });
      const response = await open(await signedIn());
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect(messageIn(await response.text())).toEqual({
        code: 'AUTHORIZATION_UNAVAILABLE',
        requestId: expect.stringMatching(/^req_\w+$/) as unknown,
        wayBack: { url: away, host: 'a.test', isStranger: false },
      });
      expect(gateway.backends.callsOf('listGrants')).toEqual([]);
      expect(gateway.log.join('')).toContain('request failed temporarily');
    });
  });
});

describe('an address that does not exist', () => {
  const files = openFilesOfTest();
  afterAll(() => files[Symbol.dispose]());
  files.write('index.html', '<div id="root">');
  const gateway = shareTestGateway({}, { constants: { WEB_DIRECTORY: files.directory } });

  const open = async (path: string, headers: Record<string, string> = VISIT, method = 'GET') => {
    const response = await gateway.fetch(path, { headers, method, redirect: 'manual' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  const UNKNOWN = ['/histroy', '/apps/grt_1/more', '/assets/gone-1.js', '/approve/%zz', '/.env'];

  test.each(UNKNOWN)('%s shows the web app to a person who opens it, with status 404', async (path) => {
    const { status, headers, text } = await open(path);
    expect([status, text]).toEqual([404, '<div id="root">']);
    expect([headers.get('content-type'), headers.get('cache-control')]).toEqual([
      'text/html; charset=utf-8',
      'no-store',
    ]);
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'/);
  });

  test.each(['/api/v1/nothing', '/api', '/oauth/nothing', '/partner/nothing', '/developer/nothing'])(
    '%s stays JSON for a browser too, because programs use it',
    async (path) => {
      const { headers, text } = await open(path);
      expect(headers.get('content-type')).toMatch(/^application\/(problem\+)?json/);
      expect(JSON.parse(text)).toBeInstanceOf(Object);
    },
  );

  test.each<[string, Record<string, string>, string]>([
    ['without a preference', {}, 'GET'],
    ['that asks for anything, as scripts of pages do', { accept: '*/*' }, 'GET'],
    ['that asks for JSON', { accept: 'application/json' }, 'GET'],
    ['that posts a form', VISIT, 'POST'],
  ])('stays JSON for a program %s', async (_, headers, method) => {
    const answer = await open('/histroy', headers, method);
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, 'NOT_FOUND']);
  });
});
