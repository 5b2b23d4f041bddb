import { describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { eventually } from '@phds/test-kit/conditions';
import { createProofKey, type ProofKey } from '@phds/test-kit/dpop-proofs';
import { decodeJwt } from 'jose';
import {
  codeOf,
  HEART,
  ISSUER,
  REDIRECT_URI,
  race,
  reasonOf,
  refusalOf,
  shareHarness,
  type TestApp,
} from './harness.ts';

const harness = await shareHarness();
const { clock, tokens, authorizations } = harness;
const key = await createProofKey();
const other = await createProofKey('EdDSA');
const app = await harness.registerApp();

const prove = (by: ProofKey = key, path = '/oauth/token', changes = {}) =>
  by.prove({ method: 'POST', url: ISSUER + path, now: clock.now() }, changes);

const proofOf = async (by: ProofKey | null) => (by === null ? {} : { dpop: await prove(by) });

const exchange = async (client: TestApp, code: string, by: ProofKey | null = key, more: object = {}) =>
  harness.exchange(client, code, { ...(await proofOf(by)), ...more });

const refresh = async (client: TestApp, refreshToken: string, by: ProofKey | null = key) =>
  harness.refresh(client, refreshToken, undefined, await proofOf(by));

const jktOf = async (token: string) => (await harness.introspect(token)).jkt;

/** Settings that only the database of this test sets at once. */
async function change(clientId: string, set: string): Promise<void> {
  const owner = await harness.connect();
  await owner.query(`UPDATE app SET ${set} WHERE client_id = $1`, [clientId]);
}

describe('a token request with a proof', () => {
  test('binds the access token, which introspection tells, also after its end', async () => {
    const issued = await exchange(app, await harness.obtainCode(app));
    expect(issued.dpopBound).toBe(true);
    const live = await harness.introspect(issued.accessToken);
    expect(live).toMatchObject({ status: TokenStatus.LIVE, jkt: key.jkt });
    expect(decodeJwt(live.assertion)).toMatchObject({ cnf: { jkt: key.jkt } });
    const own = await tokens.introspectOwnToken({ client: app, token: issued.accessToken });
    expect(own.jkt).toBe(key.jkt);
    clock.advance(3_601_000);
    expect(await harness.introspect(issued.accessToken)).toMatchObject({
      status: TokenStatus.EXPIRED,
      jkt: key.jkt,
    });
  });

  test('binds the token of an app itself', async () => {
    const request = { client: app, grantType: 'client_credentials', dpop: await prove() };
    const { accessToken, dpopBound } = await tokens.issueToken(request);
    expect([dpopBound, await jktOf(accessToken)]).toEqual([true, key.jkt]);
  });

  test('without one gives a bearer token', async () => {
    const issued = await exchange(app, await harness.obtainCode(app), null);
    expect([issued.dpopBound, await jktOf(issued.accessToken)]).toEqual([false, '']);
  });

  test('works once of fifty at the same time with one proof', async () => {
    const dpop = await prove();
    const request = { client: app, grantType: 'client_credentials', dpop };
    const { won, lost } = await race(50, () => tokens.issueToken(request));
    expect(won).toHaveLength(1);
    expect(new Set(lost)).toEqual(new Set(['invalid_dpop_proof']));
  });

  test.each<[string, string, object]>([
    ['for another endpoint', '/oauth/par', {}],
    ['of another method', '/oauth/token', { claims: { htm: 'GET' } }],
    ['with the signature of another key', '/oauth/token', { header: { jwk: other.publicJwk, alg: 'ES256' } }],
    ['that is too old', '/oauth/token', { claims: { iat: 1 } }],
  ])('is refused with a proof %s, and the code still works', async (_what, path, changes) => {
    const code = await harness.obtainCode(app);
    const dpop = await prove(key, path, changes);
    const wrong = { client: app, grantType: 'authorization_code', code, redirectUri: REDIRECT_URI, dpop };
    expect(await reasonOf(tokens.issueToken(wrong))).toBe('invalid_dpop_proof');
    expect((await exchange(app, code)).dpopBound).toBe(true);
  });

  test('with a malformed proof is refused alike for a known and an unknown client', async () => {
    const grant = { grantType: 'client_credentials', dpop: 'a.b.c' };
    const unknown = { clientId: 'app_0000000000000000000001', clientSecret: app.clientSecret };
    const [one, two] = [
      await refusalOf(tokens.issueToken({ ...grant, client: app })),
      await refusalOf(tokens.issueToken({ ...grant, client: unknown })),
    ];
    expect(one.reason).toBe('invalid_dpop_proof');
    expect(two).toEqual(one);
  });

  test('of an unknown client does not use up its proof', async () => {
    const dpop = await prove();
    const unknown = { clientId: app.clientId, clientSecret: 'wrong' };
    const request = { grantType: 'client_credentials', dpop };
    expect(await reasonOf(tokens.issueToken({ ...request, client: unknown }))).toBe('unauthorized');
    expect((await tokens.issueToken({ ...request, client: app })).dpopBound).toBe(true);
  });
});

describe('a bound family', () => {
  test('gets no unbound token any more, but may have another key', async () => {
    const { refreshToken } = await exchange(app, await harness.obtainCode(app));
    expect(await reasonOf(refresh(app, refreshToken, null))).toBe('invalid_dpop_proof');
    const renewed = await refresh(app, refreshToken);
    expect(await jktOf(renewed.accessToken)).toBe(key.jkt);
    const { accessToken } = await refresh(app, renewed.refreshToken, other);
    expect(await jktOf(accessToken)).toBe(other.jkt);
  });

  test('begins with the first proof at a refresh', async () => {
    const { refreshToken } = await exchange(app, await harness.obtainCode(app), null);
    const bound = await refresh(app, refreshToken);
    expect(bound.dpopBound).toBe(true);
    expect(await reasonOf(refresh(app, bound.refreshToken, null))).toBe('invalid_dpop_proof');
  });

  test('gives workers with different keys one refresh token and access tokens of their own', async () => {
    const { refreshToken } = await exchange(app, await harness.obtainCode(app));
    const [one, two] = await Promise.all([
      refresh(app, refreshToken, key),
      refresh(app, refreshToken, other),
    ]);
    expect(two.refreshToken).toBe(one.refreshToken);
    expect(await Promise.all([jktOf(one.accessToken), jktOf(two.accessToken)])).toEqual([key.jkt, other.jkt]);
    expect((await refresh(app, refreshToken, other)).accessToken).toBe(two.accessToken);
  });

  test('names the cause to a worker with another key whose repeat has met its end', async () => {
    const { refreshToken } = await exchange(app, await harness.obtainCode(app));
    await refresh(app, refreshToken);
    const admin = await harness.connect('admin');
    await admin.query('BEGIN');
    await admin.query('UPDATE token_family SET revoked_at = now()');
    const repeat = refusalOf(refresh(app, refreshToken, other));
    await eventually(async () => {
      await admin.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await admin.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      return rows.length > 0;
    });
    await admin.query('COMMIT');
    expect((await repeat).message).toContain('The refresh token was revoked');
  });
});

describe('a code', () => {
  const open = (changes: object) =>
    authorizations.openAuthorization({
      client: app,
      redirectUri: REDIRECT_URI,
      scope: HEART,
      requireAuthentication: true,
      ...changes,
    });

  async function approve(pendingId: string): Promise<string> {
    const decision = { pendingId, allRequested: true };
    const { redirectUri } = await authorizations.completeAuthorization(decision, await harness.as('ada'));
    return codeOf(redirectUri);
  }

  test.each<[string, () => Promise<object>]>([
    ['dpop_jkt', async () => ({ dpopJkt: key.jkt })],
    ['a proof at the pushed request', async () => ({ dpop: await prove(key, '/oauth/par') })],
    ['both', async () => ({ dpopJkt: key.jkt, dpop: await prove(key, '/oauth/par') })],
  ])('is bound by %s', async (_what, binding) => {
    const code = await approve((await open(await binding())).pendingId);
    expect(await reasonOf(exchange(app, code, null))).toBe('invalid_dpop_proof');
    expect(await reasonOf(exchange(app, code, other))).toBe('invalid_grant');
    expect((await exchange(app, code)).dpopBound).toBe(true);
  });

  test.each<[string, string, () => Promise<object>]>([
    [
      'another key than its proof',
      'invalid_request',
      async () => ({ dpopJkt: other.jkt, dpop: await prove(key, '/oauth/par') }),
    ],
    ['no thumbprint', 'invalid_request', async () => ({ dpopJkt: 'x' })],
    ['a proof for another endpoint', 'invalid_dpop_proof', async () => ({ dpop: await prove() })],
  ])('is not given for a request with %s', async (_what, reason, binding) => {
    expect(await reasonOf(open(await binding()))).toBe(reason);
  });
});

describe('an app that binds all of its tokens', () => {
  test('gets none without a proof', async () => {
    const bound = await harness.registerApp();
    await change(bound.clientId, 'dpop_bound_access_tokens = true');
    const own = { client: bound, grantType: 'client_credentials' };
    expect(await reasonOf(tokens.issueToken(own))).toBe('invalid_dpop_proof');
    const code = await harness.obtainCode(bound);
    expect(await reasonOf(exchange(bound, code, null))).toBe('invalid_dpop_proof');
    expect((await exchange(bound, code)).dpopBound).toBe(true);
  });
});

test('an app that has to push its requests has no others', async () => {
  const strict = await harness.registerApp();
  await harness.updateApp(strict.clientId, { requirePushedAuthorizationRequests: true });
  const request = { client: { clientId: strict.clientId }, redirectUri: REDIRECT_URI, scope: HEART };
  const link = await authorizations.openAuthorization({ ...request, frontChannel: true });
  expect(new URL(link.errorRedirect).searchParams.get('error')).toBe('invalid_request');
  expect(await reasonOf(authorizations.openAuthorization(request))).toBe('unauthorized');
  const pushed = { ...request, client: strict, requireAuthentication: true };
  expect((await authorizations.openAuthorization(pushed)).pendingId).toMatch(/^apr_/);
});
