import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, type RequestOptions, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { isId } from '@phds/service-kit/ids';
import { isSecret } from '@phds/service-kit/secrets';
import { eventually } from '@phds/test-kit/conditions';

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const SCOPES = ['read:health-data:heart', 'read:profile'];

let stack: SharedStack;
let developer: string;
let stranger: string;
let user: string;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
  stranger = await signIn(stack, 'stranger');
  user = await signIn(stack, 'developer-apps-ada');
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

const newApp = () => registerApp(stack.gateway, developer);
const post = ({ clientId }: PartnerApp, path: string, json: unknown = {}) =>
  send(`${stack.gateway}/developer/apps/${clientId}/${path}`, { bearer: developer, json });
const setStatus = async (app: PartnerApp, status: string) =>
  expectStatus(200, await post(app, 'status', { status })).body.data;

async function readStatus(app: PartnerApp, token: string): Promise<number> {
  return (await app.read(token, '/api/v1/profile')).status;
}

function codeOf({ status, body }: Answer): [number, string] {
  return [status, body.code];
}

async function grantOf(grantId: string): Promise<Answer['body']> {
  const url = `${stack.gateway}/partner/consent/grants/${grantId}`;
  return expectStatus(200, await send(url, { bearer: user })).body.data;
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
});

describe('GET and PATCH /developer/apps', () => {
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
});

describe('status', () => {
  test('revoked ends grants, tokens, pending approvals and secrets permanently', async () => {
    const app = await newApp();
    const tokens = await app.connect(user, SCOPES);
    const { code } = await app.expectCode(await signIn(stack, 'developer-apps-grace'), SCOPES);
    const pendingId: string = expectStatus(201, await app.authorize(SCOPES)).body.pending_id;
    const pendingUrl = `${stack.gateway}/partner/consent/pending/${pendingId}`;
    expectStatus(200, await send(pendingUrl, { bearer: user }));

    await setStatus(app, 'revoked');
    expect(await readStatus(app, tokens.accessToken)).toBe(401);
    expect(codeOf(await app.refresh(tokens.refreshToken))).toEqual([401, 'UNAUTHORIZED']);
    expect(await grantOf(tokens.grantId)).toMatchObject({
      status: 'revoked',
      revokedBy: 'app',
      revokedAt: expect.stringMatching(INSTANT),
    });
    expect((await send(pendingUrl, { bearer: user })).body.data.status).toBe('cancelled');
    expect(codeOf(await post(app, 'rotate-secret'))).toEqual([409, 'APP_NOT_ACTIVE']);

    await setStatus(app, 'active');
    expect(codeOf(await app.refresh(tokens.refreshToken))).toEqual([401, 'UNAUTHORIZED']);
    app.clientSecret = expectStatus(200, await post(app, 'rotate-secret')).body.data.clientSecret;
    expect(codeOf(await app.refresh(tokens.refreshToken))).toEqual([400, 'INVALID_GRANT']);
    expect(codeOf(await app.exchange(code))).toEqual([400, 'INVALID_GRANT']);
    expect(await readStatus(app, tokens.accessToken)).toBe(401);
    expect(codeOf(await app.approveAs(user, pendingId))).toEqual([409, 'ALREADY_DECIDED']);
    expect((await grantOf(tokens.grantId)).status).toBe('revoked');

    const again = await app.connect(user, SCOPES);
    expect(again.grantId).not.toBe(tokens.grantId);
    expect(await readStatus(app, again.accessToken)).toBe(200);
  });
});

type StatusCount = { status: number; count: number };

describe('usage', () => {
  test('counts requests refused before any data was read, by endpoint and status', async () => {
    const app = await newApp();
    const { accessToken } = await app.connect(user, SCOPES);
    const refused = [
      'health-data/heart?page=0',
      'health-data/heart?from=x',
      'ehr',
      'medications/x/adherence',
      'no',
    ];
    const statuses: number[] = [];
    for (const path of refused) statuses.push((await app.read(accessToken, `/api/v1/${path}`)).status);
    expect(statuses).toEqual([400, 400, 403, 403, 404]);
    const url = `${stack.gateway}/developer/apps/${app.clientId}/usage`;
    type Row = { endpoint: string; released: number; refused: number; refusals: StatusCount[] };
    await eventually(
      async () => {
        const rows: Row[] = expectStatus(200, await send(url, { bearer: developer })).body.data;
        // Summed over all days, because midnight may pass during the test.
        const counts: Record<string, number> = {};
        for (const { endpoint, released, refused, refusals } of rows) {
          expect([released, refused]).toEqual([0, refusals.reduce((sum, { count }) => sum + count, 0)]);
          for (const { status, count } of refusals) {
            counts[`${status} ${endpoint}`] = (counts[`${status} ${endpoint}`] ?? 0) + count;
          }
        }
        expect(counts).toEqual({
          '400 /api/v1/health-data/heart': 2,
          '403 /api/v1/ehr': 1,
          '403 /api/v1/medications/{id}/adherence': 1,
          '404 /api/*': 1,
        });
      },
      { intervalMs: 200 },
    );
  });
});
