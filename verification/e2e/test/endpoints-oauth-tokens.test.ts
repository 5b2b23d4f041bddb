import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { expectStatus, type PartnerApp, registerApp, toTokens } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { type Answer, send } from '@phds/running-system/request';
import { type SharedStack, useSharedStack } from '@phds/running-system/shared-stack';
import { newSecret } from '@phds/service-kit/secrets';

const HEART = 'read:health-data:heart';
const MOOD = 'read:mood';
const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

let stack: SharedStack;
let developer: string;
let app: PartnerApp;
let other: PartnerApp;

beforeAll(async () => {
  stack = await useSharedStack();
  developer = await signIn(stack, 'developer');
  app = await registerApp(stack.gateway, developer);
  other = await registerApp(stack.gateway, developer);
});

let people = 0;
function somebody(): Promise<string> {
  people += 1;
  return signIn(stack, `endpoints-oauth-tokens-${people}`);
}

const codeOf = ({ status, body }: Answer): [number, string] => [status, body.code];
const INVALID_GRANT = [400, 'INVALID_GRANT'];
const heartStatus = async (token: string): Promise<number> =>
  (await app.read(token, '/api/v1/health-data/heart')).status;

/** A code that is bound to a PKCE challenge. */
async function codeWithChallenge(): Promise<string> {
  const challenge = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };
  const { pending_id } = expectStatus(201, await app.authorize([HEART], challenge)).body;
  const { data } = expectStatus(200, await app.approveAs(await somebody(), pending_id)).body;
  return new URL(data.redirectUri).searchParams.get('code') ?? '';
}

describe('authorization_code', () => {
  test('returns the tokens of the grant', async () => {
    const { code, grantId } = await app.expectCode(await somebody(), [HEART, MOOD], { scopes: [MOOD] });
    const { body, headers } = expectStatus(200, await app.exchange(code));
    expect(body).toEqual({
      access_token: expect.stringMatching(/^phds_at_[A-Za-z0-9]{49}$/),
      token_type: 'Bearer',
      expires_in: 3600,
      refresh_token: expect.stringMatching(/^phds_rt_[A-Za-z0-9]{49}$/),
      scope: MOOD,
      grant_id: grantId,
      sub: expect.stringMatching(/^sub_[0-9A-Za-z]{22}$/),
    });
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-store', 'no-cache']);
  });

  test("every exchange of another app's code is refused with the same invalid_grant", async () => {
    const { code } = await app.expectCode(await somebody(), [HEART]);
    const answers = await Promise.all([
      app.exchange(newSecret('authorization_code')),
      app.exchange('garbage'),
      app.exchange(newSecret('refresh_token')),
      other.exchange(code),
    ]);
    expect(codeOf(answers[0])).toEqual(INVALID_GRANT);
    for (const { status, text } of answers) expect([status, text]).toEqual([400, answers[0].text]);
    // The rightful owner can still use the code.
    expect((await app.exchange(code)).status).toBe(200);
  });

  test("a wrong exchange of the app's own code is refused with the cause, and the code stays usable", async () => {
    const { code } = await app.expectCode(await somebody(), [HEART]);
    const bound = await codeWithChallenge();
    const attempts = [
      [app.exchange(code, { redirect_uri: 'http://localhost:9998/callback' }), 'redirect_uri differs'],
      [app.exchange(bound), 'code_verifier is missing'],
      [app.exchange(bound, { code_verifier: `${VERIFIER}x` }), 'code_verifier does not fit'],
    ] as const;
    for (const [attempt, cause] of attempts) {
      const answer = await attempt;
      expect(codeOf(answer)).toEqual(INVALID_GRANT);
      expect(answer.body.error_description).toContain(cause);
    }
    expectStatus(200, await app.exchange(bound, { code_verifier: VERIFIER }));
    expectStatus(200, await app.exchange(code));
  });

  test('a code is invalidated by five failed attempts of its client, and by none of other clients', async () => {
    const { code } = await app.expectCode(await somebody(), [HEART]);
    for (let i = 0; i < 6; i += 1) expect(codeOf(await other.exchange(code))).toEqual(INVALID_GRANT);
    for (let i = 0; i < 5; i += 1) {
      expect(codeOf(await app.exchange(code, { code_verifier: VERIFIER }))).toEqual(INVALID_GRANT);
    }
    const burned = await app.exchange(code);
    expect(codeOf(burned)).toEqual(INVALID_GRANT);
    expect(burned.body.error_description).toContain('burned by 5 failed attempts');
  });

  test('reuse of a code by its own client revokes its tokens; by another client it changes nothing', async () => {
    const user = await somebody();
    const { code } = await app.expectCode(user, [HEART]);
    const tokens = await app.expectTokens(code);
    expect(codeOf(await other.exchange(code))).toEqual(INVALID_GRANT);
    expect(await heartStatus(tokens.accessToken)).toBe(200);
    const apart = await app.connect(user, [HEART]);
    expect(codeOf(await app.exchange(code))).toEqual(INVALID_GRANT);
    expect(await heartStatus(tokens.accessToken)).toBe(401);
    expect(codeOf(await app.refresh(tokens.refreshToken))).toEqual(INVALID_GRANT);
    expect(await heartStatus(apart.accessToken)).toBe(200);
  });

  test('a code is invalid once its grant is revoked', async () => {
    const user = await somebody();
    const { code, grantId } = await app.expectCode(user, [HEART]);
    const url = `${stack.gateway}/partner/consent/grants/${grantId}`;
    expectStatus(200, await send(url, { method: 'DELETE', bearer: user }));
    expect(codeOf(await app.exchange(code))).toEqual(INVALID_GRANT);
  });

  test('missing parameters and unknown grant types are refused', async () => {
    expect(codeOf(await app.post('/oauth/token', { grant_type: 'authorization_code' }))).toEqual([
      400,
      'INVALID_REQUEST',
    ]);
    expect(codeOf(await app.post('/oauth/token', {}))).toEqual([400, 'INVALID_REQUEST']);
    const { status, body } = await app.post('/oauth/token', { grant_type: 'password', username: 'x' });
    expect([status, body.error, body.code]).toEqual([
      400,
      'unsupported_grant_type',
      'UNSUPPORTED_GRANT_TYPE',
    ]);
  });
});

describe('refresh_token', () => {
  test('rotates; the old token returns the same pair until the new one is used', async () => {
    const tokens = await app.connect(await somebody(), [HEART]);
    const first = toTokens(expectStatus(200, await app.refresh(tokens.refreshToken)));
    const again = toTokens(expectStatus(200, await app.refresh(tokens.refreshToken)));
    expect(again).toEqual(first);
    expect(first.refreshToken).not.toBe(tokens.refreshToken);
    expect(await heartStatus(tokens.accessToken)).toBe(200);

    const second = toTokens(expectStatus(200, await app.refresh(first.refreshToken)));
    expect(codeOf(await app.refresh(tokens.refreshToken))).toEqual(INVALID_GRANT);
    for (const { accessToken } of [tokens, first, second]) expect(await heartStatus(accessToken)).toBe(401);
    expect(codeOf(await app.refresh(second.refreshToken))).toEqual(INVALID_GRANT);
  });

  test('reuse revokes its own family, but not another one of the same grant', async () => {
    const user = await somebody();
    const [one, two] = [await app.connect(user, [HEART]), await app.connect(user, [HEART])];
    expect(one.grantId).toBe(two.grantId);
    const next = toTokens(expectStatus(200, await app.refresh(one.refreshToken)));
    expectStatus(200, await app.refresh(next.refreshToken));
    expect(codeOf(await app.refresh(one.refreshToken))).toEqual(INVALID_GRANT);
    expect(await heartStatus(two.accessToken)).toBe(200);
    expectStatus(200, await app.refresh(two.refreshToken));
  });

  test('a token of another client, an unknown one, or another kind of token gets invalid_grant and changes nothing', async () => {
    const tokens = await app.connect(await somebody(), [HEART]);
    expect(codeOf(await other.refresh(tokens.refreshToken))).toEqual(INVALID_GRANT);
    for (const wrong of [tokens.accessToken, newSecret('refresh_token'), 'x']) {
      expect(codeOf(await app.refresh(wrong))).toEqual(INVALID_GRANT);
    }
    expectStatus(200, await app.refresh(tokens.refreshToken));
  });

  test('may narrow the access token but never widen it; a retry requests the same scopes', async () => {
    const tokens = await app.connect(await somebody(), [HEART, MOOD]);
    const wider = await app.refresh(tokens.refreshToken, { scope: `${HEART} read:profile` });
    expect(codeOf(wider)).toEqual([400, 'INVALID_SCOPE']);
    const narrowed = expectStatus(200, await app.refresh(tokens.refreshToken, { scope: MOOD }));
    expect(narrowed.body.scope).toBe(MOOD);
    expect((await app.read(narrowed.body.access_token, '/api/v1/health-data/heart')).body.code).toBe(
      'INSUFFICIENT_SCOPE',
    );
    expect(codeOf(await app.refresh(tokens.refreshToken, { scope: HEART }))).toEqual([400, 'INVALID_SCOPE']);
    expectStatus(200, await app.refresh(tokens.refreshToken, { scope: MOOD }));
    // The narrower scope applied to one access token, not to the family.
    const whole = expectStatus(200, await app.refresh(narrowed.body.refresh_token));
    expect(whole.body.scope).toBe(`${HEART} ${MOOD}`);
  });
});

describe('revoke and introspect', () => {
  test("revoke answers 200 {} for every token, and leaves other apps' tokens alone", async () => {
    const mine = await app.connect(await somebody(), [HEART]);
    const theirs = await other.connect(await somebody(), [HEART]);
    const answers = [
      await app.revoke(mine.accessToken),
      await app.revoke(mine.accessToken),
      await app.revoke(theirs.accessToken),
      await app.revoke(theirs.refreshToken),
      await app.revoke(newSecret('access_token')),
      await app.revoke('x'),
      await app.post('/oauth/revoke', { token: mine.accessToken, token_type_hint: 'refresh_token' }),
    ];
    const seen = answers.map(({ status, text, headers }) => [status, text, [...headers.keys()]]);
    expect(seen[0]?.slice(0, 2)).toEqual([200, '{}']);
    for (const each of seen) expect(each).toEqual(seen[0]);
    expect(await heartStatus(theirs.accessToken)).toBe(200);
    expectStatus(200, await other.refresh(theirs.refreshToken));
    expect(codeOf(await app.post('/oauth/revoke', {}))).toEqual([400, 'INVALID_REQUEST']);
  });

  test('revoking an access token ends only that token; revoking a refresh token ends its whole family', async () => {
    const tokens = await app.connect(await somebody(), [HEART]);
    expectStatus(200, await app.revoke(tokens.accessToken));
    expect(await heartStatus(tokens.accessToken)).toBe(401);
    const next = toTokens(expectStatus(200, await app.refresh(tokens.refreshToken)));
    expect(await heartStatus(next.accessToken)).toBe(200);
    // The rotated token still identifies the family.
    expectStatus(200, await app.revoke(tokens.refreshToken));
    expect(await heartStatus(next.accessToken)).toBe(401);
    expect(codeOf(await app.refresh(next.refreshToken))).toEqual(INVALID_GRANT);
  });

  test("introspect describes the app's own live tokens, and no others", async () => {
    const tokens = await app.connect(await somebody(), [HEART]);
    const now = Math.floor(Date.now() / 1000);
    const { body } = expectStatus(200, await app.introspect(tokens.accessToken));
    expect(body).toEqual({
      active: true,
      scope: HEART,
      client_id: app.clientId,
      token_type: 'Bearer',
      iat: expect.any(Number),
      exp: body.iat + 3600,
      grant_id: tokens.grantId,
      sub: expect.stringMatching(/^sub_[0-9A-Za-z]{22}$/),
    });
    expect(Math.abs(body.iat - now)).toBeLessThan(60);
    expect((await app.introspect(tokens.refreshToken)).body).toMatchObject({ active: true, scope: HEART });
    const none = [
      other.introspect(tokens.accessToken),
      other.introspect(tokens.refreshToken),
      app.introspect(newSecret('access_token')),
      app.introspect('x'),
    ];
    for (const { status, text } of await Promise.all(none)) {
      expect([status, text]).toEqual([200, '{"active":false}']);
    }
  });
});
