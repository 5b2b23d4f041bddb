import { beforeAll, describe, expect, test } from '@jest/globals';
import { findScope } from '@phds/catalog/scopes';
import { expectStatus, type PartnerApp, REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, type RequestOptions, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const PROFILE = 'read:profile';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const DAY_MS = 86_400_000;

let stack: SharedStack;
let developer: string;
let app: PartnerApp;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
  app = await registerApp(stack.gateway, developer, { name: 'Pulse' });
});

let people = 0;
/** Signs in as a new person. */
function somebody(): Promise<string> {
  people += 1;
  return signIn(stack, `partner-approvals-${people}`);
}

async function ask(scopes: readonly string[], parameters: Record<string, string> = {}): Promise<string> {
  return expectStatus(201, await app.authorize(scopes, parameters)).body.pending_id;
}

const pending = (bearer: string | undefined, path = '', options: RequestOptions = {}) =>
  send(`${stack.gateway}/partner/consent/pending${path}`, { bearer, ...options });
const deny = (bearer: string, id: string) => pending(bearer, `/${id}/deny`, { json: {} });
const codeOf = ({ status, body }: Answer): [number, string] => [status, body.code];

describe('GET pending', () => {
  test('returns what the approval screen needs, without state and redirect URI', async () => {
    const user = await somebody();
    const id = await ask([MOOD, HEART], { state: 'secret-state', purpose: 'To find patterns' });
    const answer = expectStatus(200, await pending(user, `/${id}`));
    const { createdAt, expiresAt } = answer.body.data;
    expect(answer.body).toEqual({
      data: {
        id,
        status: 'pending',
        app: {
          clientId: app.clientId,
          name: 'Pulse',
          description: null,
          developerName: null,
          homepageUrl: null,
          privacyPolicyUrl: null,
          logoUrl: null,
          redirectHost: 'localhost:9999',
        },
        requestedScopes: [HEART, MOOD].map((scope) => {
          const { title, description, sensitive } = findScope(scope) ?? {};
          return { scope, title, description, sensitive, alreadyShared: false, need: null };
        }),
        purpose: 'To find patterns',
        clientAuthenticated: true,
        createdAt: expect.stringMatching(INSTANT),
        expiresAt: expect.stringMatching(INSTANT),
        revision: expect.any(String),
        connection: null,
      },
    });
    expect(Date.parse(expiresAt) - Date.parse(createdAt)).toBe(600_000);
    expect(id).toMatch(/^apr_[A-Za-z0-9]{22,}$/);
    for (const hidden of ['secret-state', '/callback', 'phds_']) expect(answer.text).not.toContain(hidden);
  });

  test('tells when the app was not authenticated', async () => {
    const json = { client_id: app.clientId, redirect_uri: REDIRECT_URI, scope: HEART };
    const { body } = expectStatus(201, await send(`${stack.gateway}/oauth/authorize`, { json }));
    const shown = await pending(await somebody(), `/${body.pending_id}`);
    expect(shown.body.data).toMatchObject({ clientAuthenticated: false, purpose: null });
  });

  test('claims the approval for the first session that opens it; for other people it does not exist', async () => {
    const [first, second] = [await somebody(), await somebody()];
    const id = await ask([HEART]);
    expectStatus(200, await pending(first, `/${id}`));
    const others = [
      pending(second, `/${id}`),
      pending(second, `/${id}/approve`, { json: {} }),
      deny(second, id),
      pending(second, '/apr_0000000000000000000000'),
      pending(second, '/nothing'),
      pending(second, '/apr_0000000000000000000000/approve', { json: {} }),
    ];
    for (const each of await Promise.all(others)) expect(codeOf(each)).toEqual([404, 'NOT_FOUND']);
    expect((await pending(first, `/${id}`)).body.data.status).toBe('pending');
  });

  test('lists the approvals that a person has claimed, newest first, by status', async () => {
    const user = await somebody();
    const ids = [await ask([HEART]), await ask([MOOD]), await ask([PROFILE])];
    expect((await pending(user)).body.data).toEqual([]);
    for (const id of ids) expectStatus(200, await pending(user, `/${id}`));
    expectStatus(200, await deny(user, ids[1] ?? ''));
    const idsOf = async (query: string) =>
      expectStatus(200, await pending(user, query)).body.data.map(({ id }: { id: string }) => id);
    expect(await idsOf('')).toEqual(ids.toReversed());
    expect(await idsOf('?status=denied')).toEqual([ids[1]]);
    expect(await idsOf('?status=pending')).toEqual([ids[2], ids[0]]);
    expect(await idsOf('?page=2&pageSize=2')).toEqual([ids[0]]);
    expect((await pending(user, '?pageSize=2')).body.pagination).toEqual({
      page: 1,
      pageSize: 2,
      total: 3,
      totalPages: 2,
    });
    for (const query of ['?status=over', '?statuss=denied', '?page=0']) {
      expect(codeOf(await pending(user, query))).toEqual([400, 'INVALID_REQUEST']);
    }
  });

  test('lists unclaimed approvals of apps that the person develops', async () => {
    const owner = await somebody();
    const own = await registerApp(stack.gateway, owner);
    const id: string = expectStatus(201, await own.authorize([HEART])).body.pending_id;
    const listed = expectStatus(200, await pending(owner)).body.data;
    expect(listed.map((each: { id: string }) => each.id)).toEqual([id]);
  });
});

describe('approve', () => {
  test('returns the grant and the redirect URI with code, state and issuer', async () => {
    const user = await somebody();
    const redirect = `${REDIRECT_URI}?tab=a%20b`;
    const special = await registerApp(stack.gateway, developer, { redirectUris: [redirect] });
    const state = 'a b&c=d/ü"\\';
    const { body } = expectStatus(201, await special.authorize([HEART, MOOD], { state }));
    const decision = { scopes: [HEART], expiresInDays: 30 };
    const { data } = expectStatus(200, await special.approveAs(user, body.pending_id, decision)).body;
    expect(data).toEqual({
      id: body.pending_id,
      status: 'approved',
      grantId: expect.stringMatching(/^grt_/),
      scopes: [HEART],
      grantExpiresAt: expect.stringMatching(INSTANT),
      redirectUri: expect.stringContaining(`${redirect}&`),
    });
    const query = new URL(data.redirectUri).searchParams;
    expect([...query.keys()]).toEqual(['tab', 'code', 'state', 'iss']);
    expect([query.get('tab'), query.get('state'), query.get('iss')]).toEqual(['a b', state, stack.gateway]);
    expect(query.get('code')).toMatch(/^phds_ac_/);
    const life = Date.parse(data.grantExpiresAt) - Date.now();
    expect(Math.abs(life - 30 * DAY_MS)).toBeLessThan(60_000);
  });

  test('approves all requested scopes for 90 days by default', async () => {
    const { data } = (await app.approveAs(await somebody(), await ask([HEART, MOOD]))).body;
    expect(data.scopes).toEqual([HEART, MOOD]);
    expect(Math.abs(Date.parse(data.grantExpiresAt) - Date.now() - 90 * DAY_MS)).toBeLessThan(60_000);
  });

  test('refuses an empty list of scopes with NO_SCOPES_APPROVED and keeps the request pending', async () => {
    const [user, id] = [await somebody(), await ask([HEART])];
    expect(codeOf(await app.approveAs(user, id, { scopes: [] }))).toEqual([400, 'NO_SCOPES_APPROVED']);
    expectStatus(200, await app.approveAs(user, id, { scopes: [HEART] }));
  });

  test('refuses invalid choices and keeps the request pending', async () => {
    const [user, id] = [await somebody(), await ask([HEART])];
    const choices: [object, string][] = [
      [{ scopes: [MOOD] }, 'scopes'],
      [{ scopes: [HEART, 'read:everything'] }, 'scopes'],
      [{ scopes: HEART }, 'scopes'],
      [{ expiresInDays: 2 }, 'expiresInDays'],
      [{ expiresInDays: '30' }, 'expiresInDays'],
      [{ dataFrom: '2026-02-30' }, 'dataFrom'],
      [{ dataFrom: '9999-12-31' }, 'dataFrom'],
      [{ keepExpiry: true }, 'keepExpiry'],
      [{ keepExpiry: true, expiresInDays: 30 }, 'keepExpiry'],
      [{ scope: [HEART] }, 'scope'],
    ];
    for (const [choice, parameter] of choices) {
      const { status, body } = await pending(user, `/${id}/approve`, { json: choice });
      expect([status, body.code, body.errors?.[0].parameter]).toEqual([400, 'INVALID_REQUEST', parameter]);
    }
    expect((await pending(user, `/${id}`)).body.data.status).toBe('pending');
  });

  test('returns the same response when repeated while the code is unused; a different decision is 409', async () => {
    const [user, id] = [await somebody(), await ask([HEART, MOOD])];
    const decision = { scopes: [HEART], expiresInDays: 30 };
    const first = expectStatus(200, await app.approveAs(user, id, decision)).body;
    expect((await app.approveAs(user, id, decision)).body).toEqual(first);
    expect(codeOf(await app.approveAs(user, id, { scopes: [MOOD] }))).toEqual([409, 'ALREADY_DECIDED']);
    expect(codeOf(await deny(user, id))).toEqual([409, 'ALREADY_DECIDED']);
    const code = new URL(first.data.redirectUri).searchParams.get('code') ?? '';
    await app.expectTokens(code);
    expect(codeOf(await app.approveAs(user, id, decision))).toEqual([409, 'ALREADY_DECIDED']);
  });

  test('of a connected app updates the grant: (old minus requested) union approved', async () => {
    const user = await somebody();
    const first = await app.connect(user, [HEART, MOOD]);
    const id = await ask([MOOD, PROFILE]);
    const { requestedScopes } = (await pending(user, `/${id}`)).body.data;
    const shared = requestedScopes.map((each: Record<string, unknown>) => [
      each['scope'],
      each['alreadyShared'],
    ]);
    expect(shared).toEqual([
      [MOOD, true],
      [PROFILE, false],
    ]);
    const { data } = expectStatus(200, await app.approveAs(user, id, { scopes: [PROFILE] })).body;
    expect(data).toMatchObject({ grantId: first.grantId, scopes: [PROFILE] });
    const grant = await send(`${stack.gateway}/partner/consent/grants/${first.grantId}`, { bearer: user });
    expect(grant.body.data.scopes).toEqual([HEART, PROFILE]);
    expect(codeOf(await app.read(first.accessToken, '/api/v1/mood'))).toEqual([403, 'CONSENT_REQUIRED']);
    expect((await app.read(first.accessToken, '/api/v1/health-data/heart')).status).toBe(200);
  });
});

describe('deny', () => {
  test('returns a redirect with access_denied, is idempotent and final', async () => {
    const [user, id] = [await somebody(), await ask([HEART], { state: 's 1' })];
    const first = expectStatus(200, await deny(user, id)).body;
    expect(first).toEqual({ data: { id, status: 'denied', redirectUri: expect.any(String) } });
    expect(Object.fromEntries(new URL(first.data.redirectUri).searchParams)).toEqual({
      error: 'access_denied',
      state: 's 1',
      iss: stack.gateway,
    });
    expect((await deny(user, id)).body).toEqual(first);
    expect(codeOf(await app.approveAs(user, id))).toEqual([409, 'ALREADY_DECIDED']);
    const grants = await send(`${stack.gateway}/partner/consent/grants`, { bearer: user });
    expect(grants.body.data).toEqual([]);
  });
});
