import { afterAll, describe, expect, test } from '@jest/globals';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { unauthorized, unavailable } from '@phds/service-kit/errors';
import { openFilesOfTest } from '@phds/test-kit/files-of-test';
import { ask, shareTestGateway, throwing } from './test-gateway.ts';

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

    test('GET shows one identical error page for every error in client, redirect URI or form', async () => {
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
          const response = await gateway.fetch(`/oauth/authorize?${query}`);
          const headers = [...response.headers].filter(([name]) => name !== 'date');
          return JSON.stringify([response.status, headers, await response.text()]);
        }),
      );
      expect(new Set(pages).size).toBe(1);
      expect(pages[0]).toMatch(/^\[400,.*text\/html/);
      gateway.backends.answer({
        openAuthorization: throwing(unavailable()),
      });
      const away = await gateway.fetch('/oauth/authorize?client_id=x');
      expect([away.status, away.headers.get('retry-after')]).toEqual([503, '1']);
    });
  });

  describe('an error that is returned to the app', () => {
    const description = encodeURIComponent('The scope has an <unknown> value.');
    const errorRedirect = `https://a.test/cb?x="1"&error=invalid_scope&error_description=${description}&state=s`;
    const refused = () => ({ errorRedirect, errorRedirectHost: 'a.test' });
    const open = (headers: Record<string, string> = {}) =>
      gateway.fetch('/oauth/authorize?client_id=app_1', { headers });
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

    test('otherwise shows a page that names the host and the error and links to the app', async () => {
      answer({ app: { clientId: 'app_2' } });
      const others = [{}, { cookie: 'session=nonsense' }, await signedIn()];
      for (const headers of others) {
        const response = await open(headers);
        const page = await response.text();
        expect([response.status, response.headers.get('location')]).toEqual([400, null]);
        expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
        expect(response.headers.get('cache-control')).toBe('no-store');
        expect(page).toContain('<strong>a.test</strong>');
        expect(page).toContain('The scope has an &lt;unknown&gt; value.');
        expect(page).toContain(`href="${errorRedirect.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`);
      }
    });

    test('says that the person shares nothing with the app only when that is known', async () => {
      const known = 'You share no data with this app';
      const textOf = async (headers: Record<string, string>) => (await open(headers)).text();
      answer({ app: { clientId: 'app_2' } });
      expect(await textOf(await signedIn())).toContain(known);
      const unsure = [await textOf({}), await textOf({ cookie: 'session=nonsense' })];
      gateway.backends.answer({ openAuthorization: refused, listGrants: () => ({ grants: [], total: 101 }) });
      unsure.push(await textOf(await signedIn()));
      gateway.backends.answer({ openAuthorization: refused, listGrants: throwing(unavailable()) });
      unsure.push(await textOf(await signedIn()));
      for (const text of unsure) {
        expect(text).not.toContain(known);
        expect(text).toContain('Anybody can register an app.');
      }
      expect(gateway.log.join('')).toContain('grants of the person could not be read');
    });

    test('that is our own failure answers 503 without asking consent first', async () => {
      const away = 'https://a.test/cb?error=x&error=temporarily_unavailable&state=s';
      gateway.backends.answer({
        openAuthorization: () => ({ errorRedirect: away, errorRedirectHost: 'a.test' }),
        listGrants: throwing(unavailable()),
      });
      const response = await open(await signedIn());
      const page = await response.text();
      expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
      expect(page).toContain('<h1>Please try again</h1>');
      expect(page).toContain(`href="${away.replaceAll('&', '&amp;')}"`);
      expect(page).not.toContain('mistake');
      expect(gateway.backends.callsOf('listGrants')).toEqual([]);
      expect(gateway.log.join('')).toContain('authorization request failed temporarily');
    });
  });
});

describe('pages for mistakes', () => {
  // What Chromium sends when a person opens an address.
  const VISIT = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8' };
  const AUTHORIZE = '/oauth/authorize?client_id=app_1&response_type=code';

  const files = openFilesOfTest();
  afterAll(() => files[Symbol.dispose]());
  files.write('index.html', '<div id="root">');
  const gateway = shareTestGateway({ WEB_DIRECTORY: files.directory });

  const open = async (path: string, headers: Record<string, string> = VISIT, method = 'GET') => {
    const response = await gateway.fetch(path, { headers, method, redirect: 'manual' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  describe('an address that does not exist', () => {
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

  describe('the language of a page', () => {
    test.each([
      ['de', 'de'],
      ['de-AT,de;q=0.9,en;q=0.8', 'de'],
      ['fr-CH, fr;q=0.9, de;q=0.5, en;q=0.4', 'de'],
      ['en-GB,en;q=0.9,de;q=0.1', 'en'],
      ['de;q=0, fr', 'en'],
      ['*', 'en'],
      [';;q=x,,', 'en'],
    ])('is the one that the browser prefers: %s is answered in %s', async (accepted, language) => {
      const { headers, text } = await open('/sign-in', { ...VISIT, 'accept-language': accepted });
      expect(text).toContain(`<html lang="${language}">`);
      expect(text).toContain(
        language === 'de'
          ? '<title>Die Anmeldung ist nicht eingerichtet · Ihre Gesundheitsdaten</title>'
          : '<title>Signing in is not set up · Your health data</title>',
      );
      expect(headers.get('vary')).toContain('Accept-Language');
    });
  });

  describe('a bad link of an app', () => {
    const openBadLink = (reason: () => never, language = 'en') => {
      gateway.backends.answer({ openAuthorization: reason });
      return open(AUTHORIZE, { ...VISIT, 'accept-language': language });
    };
    const refuse = throwing(unauthorized('client'));

    test.each([
      ['en', 'This link does not work', 'Nothing was shared.', 'For the app’s developer'],
      ['de', 'Dieser Link funktioniert nicht', 'Es wurde nichts geteilt.', 'Für den Entwickler der App'],
    ])(
      'is explained to the person and to the developer, in %s',
      async (language, title, calming, heading) => {
        const { status, text } = await openBadLink(refuse, language);
        expect(status).toBe(400);
        expect(text).toContain(`<h1>${title}</h1>`);
        expect(text).toContain(calming);
        expect(text).toContain(`<h2>${heading}</h2>`);
        expect(text).toContain('<code>POST /oauth/authorize</code>');
      },
    );

    test('says in both languages that a failure of ours is worth another try', async () => {
      const fail = throwing(unavailable());
      const [english, german] = [await openBadLink(fail), await openBadLink(fail, 'de')];
      expect([english.status, german.status]).toEqual([503, 503]);
      expect(english.text).toContain('<h1>Please try again</h1>');
      expect(german.text).toContain('<h1>Bitte versuchen Sie es erneut</h1>');
    });
  });
});
