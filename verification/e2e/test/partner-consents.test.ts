import { beforeAll, describe, expect, test } from '@jest/globals';
import { findScope } from '@phds/catalog/scopes';
import {
  expectStatus,
  type PartnerApp,
  REDIRECT_URI,
  registerApp,
  toTokens,
} from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, type RequestOptions, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { eventually } from '@phds/test-kit/conditions';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const PROFILE = 'read:profile';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const DAY_MS = 86_400_000;
const HEART_PATH = '/api/v1/health-data/heart';

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
  return signIn(stack, `partner-consents-${people}`);
}

async function ask(scopes: readonly string[], parameters: Record<string, string> = {}): Promise<string> {
  return expectStatus(201, await app.authorize(scopes, parameters)).body.pending_id;
}

const pending = (bearer: string | undefined, path = '', options: RequestOptions = {}) =>
  send(`${stack.gateway}/partner/consent/pending${path}`, { bearer, ...options });
const codeOf = ({ status, body }: Answer): [number, string] => [status, body.code];
const grants = (bearer: string, path = '', options: RequestOptions = {}) =>
  send(`${stack.gateway}/partner/consent/grants${path}`, { bearer, ...options });
const narrow = (bearer: string, id: string, json: unknown) =>
  grants(bearer, `/${id}`, { method: 'PATCH', json });
const revoke = (bearer: string, id: string) => grants(bearer, `/${id}`, { method: 'DELETE' });
const grantOf = async (bearer: string, id: string): Promise<Answer['body']> =>
  expectStatus(200, await grants(bearer, `/${id}`)).body.data;
const read = async (token: string, path: string): Promise<[number, string | undefined]> => {
  const { status, body } = await app.read(token, path);
  return [status, body.code];
};

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

describe('GET grants', () => {
  test('returns app, scopes, validity, and how often data was read', async () => {
    const user = await somebody();
    const { grantId, accessToken } = await app.connect(user, [HEART, MOOD], { expiresInDays: 30 });
    const fresh = await grantOf(user, grantId);
    expect(fresh).toEqual({
      id: grantId,
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
      purpose: null,
      scopes: [HEART, MOOD],
      status: 'active',
      grantedAt: expect.stringMatching(INSTANT),
      expiresAt: expect.stringMatching(INSTANT),
      revokedAt: null,
      revokedBy: null,
      endedBy: null,
      lastAccessAt: null,
      accessCount: 0,
      dataFrom: null,
      deletionRequestedAt: null,
    });
    expect(Date.parse(fresh.expiresAt) - Date.parse(fresh.grantedAt)).toBe(30 * DAY_MS);
    expect((await app.read(accessToken, '/api/v1/mood')).status).toBe(200);
    expect((await app.read(accessToken, '/api/v1/profile')).status).toBe(403);
    const { lastAccessAt, accessCount } = await grantOf(user, grantId);
    expect([lastAccessAt, accessCount]).toEqual([expect.stringMatching(INSTANT), 1]);
  });

  test("lists own grants only, newest first, by status; another person's grant gets the same 404 as an unknown one", async () => {
    const [user, stranger] = [await somebody(), await somebody()];
    const others = [await registerApp(stack.gateway, developer), await registerApp(stack.gateway, developer)];
    const ids: string[] = [];
    for (const each of [app, ...others]) ids.push((await each.connect(user, [HEART])).grantId);
    expectStatus(200, await revoke(user, ids[0] ?? ''));
    const idsOf = async (bearer: string, query = '') =>
      expectStatus(200, await grants(bearer, query)).body.data.map(({ id }: { id: string }) => id);
    expect(await idsOf(user)).toEqual(ids.toReversed());
    expect(await idsOf(user, '?status=active')).toEqual([ids[2], ids[1]]);
    expect(await idsOf(user, '?status=revoked')).toEqual([ids[0]]);
    expect(await idsOf(user, '?pageSize=1&page=3')).toEqual([ids[0]]);
    expect(await idsOf(stranger)).toEqual([]);
    expect(codeOf(await grants(user, '?status=gone'))).toEqual([400, 'INVALID_REQUEST']);
    for (const id of [ids[1] ?? '', 'grt_0000000000000000000000', 'x']) {
      const refused = [
        grants(stranger, `/${id}`),
        narrow(stranger, id, { scopes: [HEART] }),
        revoke(stranger, id),
        grants(stranger, `/${id}/receipt`),
        grants(stranger, `/${id}/accesses`),
      ];
      for (const each of await Promise.all(refused)) expect(codeOf(each)).toEqual([404, 'NOT_FOUND']);
    }
    expect((await grantOf(user, ids[1] ?? '')).status).toBe('active');
  });
});

describe('an expired grant', () => {
  test('refuses data and refreshes, is listed as expired, and can be followed by another grant', async () => {
    const user = await somebody();
    const before = await app.connect(user, [HEART]);
    const shortenAndUse = async (lifeMs: number, refreshToken: string) => {
      const expiresAt = new Date(Date.now() + lifeMs).toISOString();
      expectStatus(200, await narrow(user, before.grantId, { expiresAt }));
      // This token cannot outlive the grant; the one before was issued for an hour.
      const capped = toTokens(expectStatus(200, await app.refresh(refreshToken)));
      expect((await app.read(capped.accessToken, HEART_PATH)).status).toBe(200);
      expect((await app.read(before.accessToken, HEART_PATH)).status).toBe(200);
      return capped;
    };
    const startedAt = performance.now();
    const { refreshToken } = await shortenAndUse(100_000, before.refreshToken);
    // Many times what the same requests needed, so that a busy machine finishes them before the grant expires.
    const lifeMs = Math.max(2_000, 10 * (performance.now() - startedAt));
    const capped = await shortenAndUse(lifeMs, refreshToken);

    await eventually(async () => {
      expect(codeOf(await app.read(before.accessToken, HEART_PATH))).toEqual([403, 'CONSENT_REQUIRED']);
    });
    const expired = await app.read(capped.accessToken, HEART_PATH);
    expect(codeOf(expired)).toEqual([401, 'TOKEN_EXPIRED']);
    expect(expired.headers.get('www-authenticate')).toBe('Bearer realm="phds", error="invalid_token"');
    expect(codeOf(await app.refresh(capped.refreshToken))).toEqual([400, 'INVALID_GRANT']);
    const { data } = expectStatus(200, await grants(user, `/${before.grantId}`)).body;
    expect(data).toMatchObject({ status: 'expired', revokedAt: null, revokedBy: null });

    const again = await app.connect(user, [HEART]);
    expect(again.grantId).not.toBe(before.grantId);
    expect((await app.read(again.accessToken, HEART_PATH)).status).toBe(200);
    expect(codeOf(await app.read(before.accessToken, HEART_PATH))).toEqual([403, 'CONSENT_REQUIRED']);
  });
});

describe('a scope that was withdrawn and granted again', () => {
  test('works again at once with the existing token', async () => {
    const user = await somebody();
    const tokens = await app.connect(user, [HEART, PROFILE]);
    const readHeart = () => read(tokens.accessToken, HEART_PATH);
    for (let i = 0; i < 3; i += 1) {
      expect(await readHeart()).toEqual([200, undefined]);
      const json = { scopes: [PROFILE] };
      expectStatus(200, await narrow(user, tokens.grantId, json));
      expect(await readHeart()).toEqual([403, 'CONSENT_REQUIRED']);
      const { grantId } = await app.expectCode(user, [HEART]);
      expect(grantId).toBe(tokens.grantId);
    }
    expect(await readHeart()).toEqual([200, undefined]);
  });
});
