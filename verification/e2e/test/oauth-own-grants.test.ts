import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, type RequestOptions, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';

const HEART = 'read:health-data:heart';
const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/;
const SUB = /^sub_[0-9A-Za-z]{22}$/;

let stack: SharedStack;
let developer: string;
let app: PartnerApp;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
  app = await registerApp(stack.gateway, developer);
});

let people = 0;
function somebody(): Promise<string> {
  people += 1;
  return signIn(stack, `oauth-own-grants-${people}`);
}

const codeOf = ({ status, body }: Answer): [number, string] => [status, body.code];

/** Asks for grants as the app itself. */
async function grants(of: PartnerApp, path = '', options: RequestOptions = {}): Promise<Answer> {
  const bearer = await of.userlessToken();
  return send(`${stack.gateway}/oauth/grants${path}`, { bearer, ...options });
}
const idsOf = async (of: PartnerApp, query: string): Promise<string[]> =>
  expectStatus(200, await grants(of, query)).body.data.map(({ id }: { id: string }) => id);

/** The `sub` of a connection: the same in the answer to the exchange and the refresh, in introspection and in the grant. */
async function subOf(of: PartnerApp, session: string): Promise<string> {
  const { code, grantId } = await of.expectCode(session, [HEART]);
  const issued = expectStatus(200, await of.exchange(code)).body;
  const refreshed = expectStatus(200, await of.refresh(issued.refresh_token)).body;
  const introspected = expectStatus(200, await of.introspect(refreshed.access_token)).body;
  const { data } = expectStatus(200, await grants(of, `/${grantId}`)).body;
  expect(issued.sub).toMatch(SUB);
  expect([refreshed.sub, introspected.sub, data.sub]).toEqual([issued.sub, issued.sub, issued.sub]);
  return issued.sub;
}

describe('the sub of a person', () => {
  test('is the same in every answer about one app and after a reconnect, and another for every app and person', async () => {
    const other = await registerApp(stack.gateway, developer);
    const [ada, ben] = [await somebody(), await somebody()];
    const sub = await subOf(app, ada);
    const [old] = await idsOf(app, `?sub=${sub}`);
    const url = `${stack.gateway}/partner/consent/grants/${old}`;
    expectStatus(200, await send(url, { method: 'DELETE', bearer: ada }));
    expect(await subOf(app, ada)).toBe(sub);
    expect(await idsOf(app, `?sub=${sub}`)).toHaveLength(2);
    expect(await idsOf(app, `?sub=${sub}&status=revoked`)).toEqual([old]);
    const others = [await subOf(other, ada), await subOf(app, ben), await subOf(other, ben)];
    expect(new Set([sub, ...others]).size).toBe(4);
    expect(await idsOf(other, `?sub=${sub}`)).toEqual([]);
  });

  test('is not in the answers about a userless token', async () => {
    const issued = expectStatus(
      200,
      await app.post('/oauth/token', { grant_type: 'client_credentials' }),
    ).body;
    const introspected = expectStatus(200, await app.introspect(issued.access_token)).body;
    for (const body of [issued, introspected]) expect(body).not.toHaveProperty('sub');
  });
});

describe('GET /oauth/grants', () => {
  test("lists the app's own grants for its userless token, of the people only their sub", async () => {
    const own = await registerApp(stack.gateway, developer);
    const { grantId } = await own.connect(await somebody(), [HEART], { dataFrom: '2026-01-01' });
    const answer = expectStatus(200, await grants(own));
    const item = {
      id: grantId,
      sub: expect.stringMatching(SUB),
      scopes: [HEART],
      status: 'active',
      granted_at: expect.stringMatching(INSTANT),
      expires_at: expect.stringMatching(INSTANT),
      data_from: '2026-01-01',
      ended_at: null,
      ended_by: null,
      deletion_requested_at: null,
    };
    expect(answer.body).toEqual({
      data: [item],
      pagination: { page: 1, pageSize: 20, total: 1, totalPages: 1 },
    });
    expect(answer.text).not.toContain('oauth-own-grants');
    expect((await grants(own, `/${grantId}`)).body).toEqual({ data: item });
  });

  test("answers 403 for a person's live token and the uniform 401 after its end", async () => {
    const { grantId, accessToken } = await app.connect(await somebody(), [HEART]);
    for (const path of ['', `/${grantId}`]) {
      const answer = await send(`${stack.gateway}/oauth/grants${path}`, { bearer: accessToken });
      expect(codeOf(answer)).toEqual([403, 'UNAUTHORIZED_CLIENT']);
      expect(answer.body.error).toBe('unauthorized_client');
      expect(answer.text).not.toContain(grantId);
    }
    await app.revoke(accessToken);
    const ended = await send(`${stack.gateway}/oauth/grants`, { bearer: accessToken });
    expect(codeOf(ended)).toEqual([401, 'UNAUTHORIZED']);
  });
});

describe('DELETE /oauth/grants/:id', () => {
  test('ends the grant before it answers, may be repeated, and the person sees that the app ended it', async () => {
    const session = await somebody();
    const { grantId, accessToken, refreshToken } = await app.connect(session, [HEART]);
    const path = '/api/v1/health-data/heart';
    expectStatus(200, await app.read(accessToken, path));
    const end = async () => expectStatus(200, await grants(app, `/${grantId}`, { method: 'DELETE' })).body;
    const first = await end();
    expect(codeOf(await app.read(accessToken, path))).toEqual([401, 'UNAUTHORIZED']);
    expect(codeOf(await app.refresh(refreshToken))).toEqual([400, 'INVALID_GRANT']);
    expect(first).toEqual({
      data: { id: grantId, status: 'revoked', revoked_at: expect.stringMatching(INSTANT) },
    });
    expect(await end()).toEqual(first);
    const { revoked_at: at } = first.data;
    expect((await grants(app, `/${grantId}`)).body.data).toMatchObject({ ended_at: at, ended_by: 'app' });
    const shown = await send(`${stack.gateway}/partner/consent/grants/${grantId}`, { bearer: session });
    expect(shown.body.data).toMatchObject({
      status: 'revoked',
      revokedAt: at,
      revokedBy: 'app',
      endedBy: 'app',
    });
  });

  test("of another app's grant is 404 and changes nothing, like an unknown one", async () => {
    const { grantId, accessToken } = await app.connect(await somebody(), [HEART]);
    const other = await registerApp(stack.gateway, developer);
    for (const id of [grantId, 'grt_0000000000000000000000', 'x']) {
      expect(codeOf(await grants(other, `/${id}`, { method: 'DELETE' }))).toEqual([404, 'NOT_FOUND']);
      expect(codeOf(await grants(other, `/${id}`))).toEqual([404, 'NOT_FOUND']);
    }
    expectStatus(200, await app.read(accessToken, '/api/v1/health-data/heart'));
  });
});
