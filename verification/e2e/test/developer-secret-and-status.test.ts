import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { isSecret } from '@phds/service-kit/secrets';
import { eventually } from '@phds/test-kit/conditions';

const SCOPES = ['read:health-data:heart', 'read:profile'];
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;

let stack: SharedStack;
let developer: string;
let user: string;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
  user = await signIn(stack, 'developer-secret-and-status-ada');
});

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

describe('rotate-secret', () => {
  test('returns a new secret; the old one fails at the next request, and tokens stay valid', async () => {
    const app = await newApp();
    const tokens = await app.connect(user, SCOPES);
    const old = app.clientSecret;
    const { data } = expectStatus(200, await post(app, 'rotate-secret')).body;
    expect(data).toEqual({
      clientId: app.clientId,
      clientSecret: expect.any(String),
      secretLast4: data.clientSecret.slice(-4),
      previousSecretLast4: null,
      previousSecretExpiresAt: null,
      rotatedAt: expect.stringMatching(INSTANT),
    });
    expect(isSecret('client_secret', data.clientSecret)).toBe(true);
    expect(data.clientSecret).not.toBe(old);

    expect(codeOf(await app.refresh(tokens.refreshToken))).toEqual([401, 'UNAUTHORIZED']);
    app.clientSecret = data.clientSecret;
    expect((await app.refresh(tokens.refreshToken)).status).toBe(200);
    expect(await readStatus(app, tokens.accessToken)).toBe(200);
  });
});

describe('rotate-secret with an overlap', () => {
  test('lets both secrets work, shows the end of the old one, and is over with the next rotation', async () => {
    const app = await newApp();
    const old = app.clientSecret;
    const authenticates = async (clientSecret: string) =>
      (await app.post('/oauth/token', { grant_type: 'client_credentials', client_secret: clientSecret }))
        .status;
    const rotated = expectStatus(200, await post(app, 'rotate-secret', { overlapSeconds: 3_600 })).body.data;
    const previous = {
      previousSecretLast4: old.slice(-4),
      previousSecretExpiresAt: expect.stringMatching(INSTANT),
    };
    expect(rotated).toMatchObject(previous);
    const url = `${stack.gateway}/developer/apps/${app.clientId}`;
    const shown = expectStatus(200, await send(url, { bearer: developer })).body.data;
    expect(shown).toMatchObject({ secretLast4: rotated.secretLast4, ...previous });
    expect([await authenticates(old), await authenticates(rotated.clientSecret)]).toEqual([200, 200]);
    const next = expectStatus(200, await post(app, 'rotate-secret')).body.data;
    expect(await Promise.all([old, rotated.clientSecret, next.clientSecret].map(authenticates))).toEqual([
      401, 401, 200,
    ]);
  });
});

describe('status', () => {
  test('returns the new status, and setting it again changes nothing', async () => {
    const app = await newApp();
    const suspended = await setStatus(app, 'suspended');
    expect(suspended).toEqual({
      clientId: app.clientId,
      status: 'suspended',
      statusChangedAt: expect.stringMatching(INSTANT),
    });
    expect(await setStatus(app, 'suspended')).toEqual(suspended);
    const url = `${stack.gateway}/developer/apps/${app.clientId}`;
    expect((await send(url, { bearer: developer })).body.data.status).toBe('suspended');
  });

  test.each(['ACTIVE', 'deleted', '', null, 1, undefined])('refuses the status %j', async (status) => {
    const { status: code, body } = await post(await newApp(), 'status', { status });
    expect([code, body.code, body.errors[0].parameter]).toEqual([400, 'INVALID_REQUEST', 'status']);
  });

  test('suspended refuses the app and its tokens, keeps its grants, and is reversible', async () => {
    const app = await newApp();
    const tokens = await app.connect(user, SCOPES);
    await setStatus(app, 'suspended');
    expect(codeOf(await app.read(tokens.accessToken, '/api/v1/profile'))).toEqual([401, 'UNAUTHORIZED']);
    expect(codeOf(await app.refresh(tokens.refreshToken))).toEqual([401, 'UNAUTHORIZED']);
    expect(codeOf(await app.authorize(SCOPES))).toEqual([401, 'UNAUTHORIZED']);
    expect(await grantOf(tokens.grantId)).toMatchObject({ status: 'active', revokedAt: null });

    await setStatus(app, 'active');
    expect(await readStatus(app, tokens.accessToken)).toBe(200);
    expect((await app.refresh(tokens.refreshToken)).status).toBe(200);
  });

  test('a suspended app gets no approval (409) until it is active again', async () => {
    const app = await newApp();
    const pendingId: string = expectStatus(201, await app.authorize(SCOPES)).body.pending_id;
    await setStatus(app, 'suspended');
    expect(codeOf(await app.approveAs(user, pendingId))).toEqual([409, 'APP_NOT_ACTIVE']);
    await setStatus(app, 'active');
    expect((await app.approveAs(user, pendingId)).status).toBe(200);
  });

  test('revoked ends grants, tokens, pending approvals and secrets permanently', async () => {
    const app = await newApp();
    const tokens = await app.connect(user, SCOPES);
    const { code } = await app.expectCode(await signIn(stack, 'developer-secret-and-status-grace'), SCOPES);
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
const today = () => new Date().toISOString().slice(0, 10);

describe('usage', () => {
  test('counts released and refused accesses by day and endpoint', async () => {
    const app = await newApp();
    const { accessToken } = await app.connect(user, SCOPES);
    const usage = async (query = '') =>
      send(`${stack.gateway}/developer/apps/${app.clientId}/usage${query}`, { bearer: developer });
    expect((await usage()).body).toEqual({
      data: [],
      pagination: { page: 1, pageSize: 20, total: 0, totalPages: 0 },
    });
    const days = [today()];
    for (const path of ['health-data/heart', 'health-data/heart?page=2', 'profile']) {
      await app.read(accessToken, `/api/v1/${path}`);
    }
    const { data, pagination } = expectStatus(200, await usage()).body;
    days.push(today());
    expect(pagination).toMatchObject({ total: data.length });
    const counts: Record<string, number> = {};
    for (const { date, endpoint, released, ...rest } of data) {
      expect(days).toContain(date);
      // Summed over all days, because midnight may pass during the test.
      counts[endpoint] = (counts[endpoint] ?? 0) + released;
      expect([typeof endpoint, typeof released, rest]).toEqual([
        'string',
        'number',
        { refused: 0, refusals: [] },
      ]);
    }
    expect(counts).toEqual({ '/api/v1/health-data/heart': 2, '/api/v1/profile': 1 });
    const past = await usage('?from=2020-01-01&to=2020-01-02');
    expect(past.body.data).toEqual([]);
    expect((await usage('?from=yesterday')).body.errors[0].parameter).toBe('from');
  });

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
