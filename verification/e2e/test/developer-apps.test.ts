import { beforeAll, describe, expect, test } from '@jest/globals';
import { SCOPE_NAMES } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type RequestOptions, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { isId } from '@phds/service-kit/ids';
import { isSecret } from '@phds/service-kit/secrets';

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const APP_FIELDS = [
  'clientId',
  'createdAt',
  'description',
  'developerName',
  'environment',
  'homepageUrl',
  'lock',
  'logoUrl',
  'name',
  'previousSecretExpiresAt',
  'previousSecretLast4',
  'privacyPolicyUrl',
  'redirectUris',
  'requirePkce',
  'scopes',
  'secretLast4',
  'status',
  'updatedAt',
];

let stack: SharedStack;
let developer: string;
let stranger: string;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
  stranger = await signIn(stack, 'stranger');
});

const call = (path: string, options: RequestOptions = {}) =>
  send(`${stack.gateway}/developer/apps${path}`, { bearer: developer, ...options });
const register = (json: unknown) => call('', { json });

/** The parameters that an INVALID_REQUEST names. */
async function blamed(json: unknown, path = '', method = 'POST'): Promise<string[]> {
  const { status, body } = await call(path, { json, method });
  expect([status, body.code]).toEqual([400, 'INVALID_REQUEST']);
  return body.errors.map(({ parameter }: { parameter: string }) => parameter);
}

describe('POST /developer/apps', () => {
  test('answers 201 with the whole app and, this time only, its secret', async () => {
    const settings = {
      name: 'Herz & Puls ❤',
      redirectUris: ['https://app.example/callback', 'com.example.app:/callback', 'http://127.0.0.1:8000/cb'],
      scopes: ['read:profile', 'read:health-data:heart'],
      description: 'Looks at hearts.',
      developerName: 'Puls GmbH',
      homepageUrl: 'https://app.example',
      privacyPolicyUrl: 'https://app.example/privacy',
      logoUrl: 'https://app.example/logo.png',
      requirePkce: true,
    };
    const { status, headers, body } = await register(settings);
    expect(status).toBe(201);
    const { clientId, clientSecret, secretLast4, createdAt, updatedAt } = body.data;
    expect(body.data).toMatchObject({
      ...settings,
      environment: 'live',
      scopes: ['read:health-data:heart', 'read:profile'],
      status: 'active',
      previousSecretLast4: null,
      previousSecretExpiresAt: null,
    });
    expect(isId('app', clientId)).toBe(true);
    expect(isSecret('client_secret', clientSecret)).toBe(true);
    expect(secretLast4).toBe(clientSecret.slice(-4));
    expect([createdAt, updatedAt]).toEqual([expect.stringMatching(INSTANT), createdAt]);
    expect(headers.get('location')).toBe(`/developer/apps/${clientId}`);
    expect(headers.get('cache-control')).toBe('no-store');
  });

  test('defaults to all 22 scopes and null for everything else', async () => {
    const { data } = expectStatus(201, await register({ name: 'Plain', redirectUris: [REDIRECT_URI] })).body;
    expect(Object.keys(data).sort()).toEqual([...APP_FIELDS, 'clientSecret'].sort());
    expect(data).toMatchObject({
      scopes: SCOPE_NAMES,
      description: null,
      developerName: null,
      homepageUrl: null,
      privacyPolicyUrl: null,
      logoUrl: null,
      requirePkce: false,
    });
  });

  const badUris = [
    'http://app.example/callback',
    'https://app.example/callback#part',
    'https://user@app.example/callback',
    'https://*.example/callback',
    'https://app.example/a/../b',
    'https://app.example/a\nb',
    'https://app.example/%00',
    'https://mychart.org%2eevil.example/callback',
    'https://App.example/callback',
    'https://0x7f.1/callback',
    'https://bücher.example/callback',
    'javascript:alert(1)',
    'myapp://callback',
    '/callback',
    '',
    `https://app.example/${'x'.repeat(512)}`,
  ];

  test.each(badUris)('refuses the redirect URI %j', async (uri) => {
    expect(await blamed({ name: 'Bad', redirectUris: [uri] })).toEqual(['redirectUris']);
  });

  test('names every invalid field', async () => {
    expect(await blamed({})).toEqual(expect.arrayContaining(['name', 'redirectUris']));
    expect(await blamed({ name: '', redirectUris: [REDIRECT_URI] })).toEqual(['name']);
    expect(await blamed({ name: 'x'.repeat(101), redirectUris: [REDIRECT_URI] })).toEqual(['name']);
    const many = Array.from({ length: 11 }, (_, index) => `https://app.example/${index}`);
    expect(await blamed({ name: 'Many', redirectUris: many })).toEqual(['redirectUris']);
    const good = { name: 'Good', redirectUris: [REDIRECT_URI] };
    expect(await blamed({ ...good, scopes: ['read:everything'] })).toEqual(['scopes']);
    expect(await blamed({ ...good, scopes: [] })).toEqual(['scopes']);
    expect(await blamed({ ...good, homepageUrl: 'javascript:alert(1)' })).toEqual(['homepageUrl']);
    expect(await blamed({ ...good, developerName: 'x'.repeat(101) })).toEqual(['developerName']);
    expect(await blamed({ ...good, requirePkce: 'yes' })).toEqual(['requirePkce']);
    const { body } = await register({ ...good, redirectUri: REDIRECT_URI });
    expect(body.errors).toEqual([
      { parameter: 'redirectUri', message: expect.stringContaining('redirectUris') },
    ]);
  });

  test('refuses a body that is not a JSON object, and other media types', async () => {
    const headers = { 'Content-Type': 'application/json' };
    for (const raw of ['{', '[]', '"x"', 'null', '']) {
      const { status, body } = await call('', { raw, method: 'POST', headers });
      expect([raw, status, body.code]).toEqual([raw, 400, 'INVALID_REQUEST']);
    }
    const xml = await call('', { raw: '<x/>', headers: { 'Content-Type': 'text/xml' } });
    expect([xml.status, xml.body.code]).toEqual([415, 'INVALID_REQUEST']);
    const form = await call('', { form: { name: 'x' } });
    expect([form.status, form.body.code]).toEqual([415, 'INVALID_REQUEST']);
  });
});

describe('GET and PATCH /developer/apps', () => {
  test('list own apps only, newest first, without secrets', async () => {
    const owner = await signIn(stack, 'owner-of-three');
    const apps: PartnerApp[] = [];
    for (const name of ['A', 'B', 'C']) apps.push(await registerApp(stack.gateway, owner, { name }));
    const list = expectStatus(200, await call('?pageSize=2', { bearer: owner })).body;
    expect(list.data.map(({ name }: { name: string }) => name)).toEqual(['C', 'B']);
    expect(list.pagination).toEqual({ page: 1, pageSize: 2, total: 3, totalPages: 2 });
    for (const item of list.data) expect(Object.keys(item).sort()).toEqual(APP_FIELDS);
    const answers = await Promise.all(
      ['', `/${apps[0]?.clientId}`].map((path) => call(path, { bearer: owner })),
    );
    for (const { text } of answers) for (const app of apps) expect(text).not.toContain(app.clientSecret);
  });

  test('change the fields sent and keep the rest', async () => {
    const app = await registerApp(stack.gateway, developer, { name: 'Before' });
    const before = expectStatus(200, await call(`/${app.clientId}`)).body.data;
    const changed = await call(`/${app.clientId}`, {
      method: 'PATCH',
      json: { name: 'After', scopes: ['read:profile'], description: 'Now with words', requirePkce: true },
    });
    const { updatedAt, ...rest } = expectStatus(200, changed).body.data;
    expect({ ...rest, updatedAt: before.updatedAt }).toEqual({
      ...before,
      name: 'After',
      scopes: ['read:profile'],
      description: 'Now with words',
      requirePkce: true,
    });
    expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(before.updatedAt));
    const cleared = await call(`/${app.clientId}`, { method: 'PATCH', json: { description: null } });
    expect(cleared.body.data).toMatchObject({ name: 'After', description: null });
    expect((await call(`/${app.clientId}`)).body).toEqual(cleared.body);
  });

  test('refuse an invalid change completely', async () => {
    const app = await registerApp(stack.gateway, developer, { name: 'Steady' });
    const path = `/${app.clientId}`;
    expect(await blamed({ name: 'Other', redirectUris: ['/x'] }, path, 'PATCH')).toEqual(['redirectUris']);
    expect(await blamed({ status: 'revoked' }, path, 'PATCH')).toEqual(['status']);
    expect(await blamed({ redirectUris: [] }, path, 'PATCH')).toEqual(['redirectUris']);
    expect((await call(path)).body.data.name).toBe('Steady');
  });
});

describe('ownership of apps', () => {
  const requests: [string, string, RequestOptions][] = [
    ['GET', '', {}],
    ['PATCH', '', { json: { name: 'Mine' } }],
    ['POST', '/rotate-secret', {}],
    ['POST', '/status', { json: { status: 'revoked' } }],
    ['GET', '/usage', {}],
  ];

  test.each(requests)(
    "%s …%s answers the same 404 for another developer's app and an unknown app",
    async (method, path, rest) => {
      const app = await registerApp(stack.gateway, developer);
      const unknown = ['app_0000000000000000000000', 'x', '__proto__', 'app_%F0%9F%92%A9'];
      const answers = await Promise.all(
        [app.clientId, ...unknown].map((clientId) =>
          call(`/${clientId}${path}`, { method, bearer: stranger, ...rest }),
        ),
      );
      const seen = answers.map(({ status, body }) => ({ status, ...body, requestId: typeof body.requestId }));
      expect(seen[0]).toMatchObject({ status: 404, code: 'NOT_FOUND' });
      for (const each of seen) expect(each).toEqual(seen[0]);
      expect(await app.userlessToken()).toMatch(/^phds_at_/);
    },
  );

  test.each([...requests, ['GET', '/', {}] as const])(
    '%s …%s requires a session',
    async (method, path, rest) => {
      const app = await registerApp(stack.gateway, developer);
      const token = await app.userlessToken();
      for (const bearer of [undefined, token, 'x']) {
        const answer = await send(`${stack.gateway}/developer/apps/${app.clientId}${path}`, {
          method,
          ...rest,
          bearer,
        });
        expect([answer.status, answer.body.code]).toEqual([401, 'UNAUTHORIZED']);
      }
    },
  );

  test('an unknown route is 404 and another method 405 with Allow', async () => {
    expect((await send(`${stack.gateway}/developer/nothing`, { bearer: developer })).status).toBe(404);
    const { status, headers, body } = await call('', { method: 'DELETE' });
    expect([status, headers.get('allow'), body.code]).toEqual([405, 'GET, POST', 'METHOD_NOT_ALLOWED']);
  });
});
