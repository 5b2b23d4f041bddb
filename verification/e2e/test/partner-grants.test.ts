import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
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
function somebody(): Promise<string> {
  people += 1;
  return signIn(stack, `partner-grants-${people}`);
}

const grants = (bearer: string, path = '', options: RequestOptions = {}) =>
  send(`${stack.gateway}/partner/consent/grants${path}`, { bearer, ...options });
const narrow = (bearer: string, id: string, json: unknown) =>
  grants(bearer, `/${id}`, { method: 'PATCH', json });
const revoke = (bearer: string, id: string) => grants(bearer, `/${id}`, { method: 'DELETE' });
const grantOf = async (bearer: string, id: string): Promise<Answer['body']> =>
  expectStatus(200, await grants(bearer, `/${id}`)).body.data;
const codeOf = ({ status, body }: Answer): [number, string] => [status, body.code];
const read = async (token: string, path: string): Promise<[number, string | undefined]> => {
  const { status, body } = await app.read(token, path);
  return [status, body.code];
};

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

describe('PATCH grants', () => {
  test('withdraws scopes and shortens the validity with immediate effect', async () => {
    const user = await somebody();
    const { grantId, accessToken } = await app.connect(user, [HEART, MOOD, PROFILE]);
    expect(await read(accessToken, '/api/v1/mood')).toEqual([200, undefined]);
    const expiresAt = new Date(Date.now() + DAY_MS).toISOString();
    const { data } = expectStatus(
      200,
      await narrow(user, grantId, { scopes: [PROFILE, HEART], expiresAt }),
    ).body;
    expect(data).toMatchObject({ id: grantId, scopes: [HEART, PROFILE], expiresAt, status: 'active' });
    expect(await grantOf(user, grantId)).toMatchObject({ scopes: [HEART, PROFILE], expiresAt });
    expect(await read(accessToken, '/api/v1/mood')).toEqual([403, 'CONSENT_REQUIRED']);
    expect(await read(accessToken, '/api/v1/profile')).toEqual([200, undefined]);
  });

  test('removes withdrawn scopes from `scope` in refresh and introspection at once; reads get CONSENT_REQUIRED', async () => {
    const user = await somebody();
    const { grantId, accessToken, refreshToken } = await app.connect(user, [HEART, MOOD]);
    const scopeOf = async (token: string) => {
      const { active, scope } = expectStatus(200, await app.introspect(token)).body;
      return [active, scope];
    };
    expect(await read(accessToken, '/api/v1/health-data/heart')).toEqual([200, undefined]);
    expectStatus(200, await narrow(user, grantId, { scopes: [MOOD] }));
    expect(await scopeOf(accessToken)).toEqual([true, MOOD]);
    expect(await scopeOf(refreshToken)).toEqual([true, MOOD]);
    expect(codeOf(await app.refresh(refreshToken, { scope: HEART }))).toEqual([400, 'INVALID_SCOPE']);
    const refreshed = expectStatus(200, await app.refresh(refreshToken)).body;
    expect(refreshed.scope).toBe(MOOD);
    for (const token of [accessToken, refreshed.access_token]) {
      expect(await read(token, '/api/v1/health-data/heart')).toEqual([403, 'CONSENT_REQUIRED']);
      expect(await read(token, '/api/v1/mood')).toEqual([200, undefined]);
    }
  });

  test('never widens a grant, and a refused change changes nothing', async () => {
    const user = await somebody();
    const { grantId } = await app.connect(user, [HEART, PROFILE], { expiresInDays: 30 });
    const before = await grantOf(user, grantId);
    const changes: [object, string][] = [
      [{ scopes: [HEART, MOOD] }, 'scopes'],
      [{ scopes: [] }, 'scopes'],
      [{ scopes: ['read:everything'] }, 'scopes'],
      [{ scopes: HEART }, 'scopes'],
      [{ expiresAt: new Date(Date.now() + 31 * DAY_MS).toISOString() }, 'expiresAt'],
      [{ expiresAt: new Date(Date.now() - DAY_MS).toISOString() }, 'expiresAt'],
      [{ expiresAt: 'tomorrow' }, 'expiresAt'],
      [{ scopes: [HEART], status: 'active' }, 'status'],
    ];
    for (const [change, parameter] of changes) {
      const { status, body } = await narrow(user, grantId, change);
      expect([status, body.code, body.errors?.[0].parameter]).toEqual([400, 'INVALID_REQUEST', parameter]);
    }
    expect(await grantOf(user, grantId)).toEqual(before);
  });

  test('answers 409 for an ended grant', async () => {
    const user = await somebody();
    const { grantId } = await app.connect(user, [HEART, PROFILE]);
    expectStatus(200, await revoke(user, grantId));
    expect(codeOf(await narrow(user, grantId, { scopes: [HEART] }))).toEqual([409, 'CONFLICT']);
  });
});

describe('DELETE grants and revoke-all', () => {
  test('end the grant before they answer, and can be repeated', async () => {
    const user = await somebody();
    const { grantId, accessToken, refreshToken } = await app.connect(user, [HEART]);
    expect(await read(accessToken, '/api/v1/health-data/heart')).toEqual([200, undefined]);
    const first = expectStatus(200, await revoke(user, grantId)).body;
    expect(first).toEqual({
      data: { id: grantId, status: 'revoked', revokedAt: expect.stringMatching(INSTANT) },
    });
    expect(await read(accessToken, '/api/v1/health-data/heart')).toEqual([401, 'UNAUTHORIZED']);
    expect(codeOf(await app.refresh(refreshToken))).toEqual([400, 'INVALID_GRANT']);
    expect((await revoke(user, grantId)).body).toEqual(first);
    expect(await grantOf(user, grantId)).toMatchObject({
      status: 'revoked',
      revokedAt: first.data.revokedAt,
      revokedBy: 'user',
    });
  });

  test('revoke-all ends every active grant of this user and of no other', async () => {
    const [user, other] = [await somebody(), await somebody()];
    const second = await registerApp(stack.gateway, developer);
    const mine = [await app.connect(user, [HEART]), await second.connect(user, [HEART])];
    const theirs = await app.connect(other, [HEART]);
    const revokeAll = () => grants(user, '/revoke-all', { method: 'POST' });
    expect(expectStatus(200, await revokeAll()).body).toEqual({ data: { revoked: 2 } });
    expect((await revokeAll()).body).toEqual({ data: { revoked: 0 } });
    for (const { accessToken } of mine) {
      expect(await read(accessToken, '/api/v1/health-data/heart')).toEqual([401, 'UNAUTHORIZED']);
    }
    expect(await read(theirs.accessToken, '/api/v1/health-data/heart')).toEqual([200, undefined]);
  });

  test('an ended grant never becomes active again: a new approval creates another one', async () => {
    const user = await somebody();
    const first = await app.connect(user, [HEART, MOOD]);
    expectStatus(200, await revoke(user, first.grantId));
    const second = await app.connect(user, [HEART]);
    expect(second.grantId).not.toBe(first.grantId);
    expect(await grantOf(user, second.grantId)).toMatchObject({ scopes: [HEART] });
    expect(await grantOf(user, first.grantId)).toMatchObject({ status: 'revoked' });
    expect(await read(first.accessToken, '/api/v1/health-data/heart')).toEqual([401, 'UNAUTHORIZED']);
  });
});
