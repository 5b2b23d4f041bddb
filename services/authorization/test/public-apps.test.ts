import { describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { createProofKey, type ProofKey } from '@phds/test-kit/dpop-proofs';
import {
  codeOf,
  createPkce,
  type Harness,
  HEART,
  ISSUER,
  race,
  reasonOf,
  refusalOf,
  shareHarness,
  startHarness,
} from './harness.ts';

const LOOPBACK = 'http://127.0.0.1/callback';
const SCHEME = 'com.example.app:/done';

const harness = await shareHarness();
const { clock, tokens } = harness;
const key = await createProofKey();
const thief = await createProofKey();
const { verifier, challenge } = createPkce();

async function register(settings: object, applicationType = 'public', at: Harness = harness) {
  const request = { applicationType, settings: { name: 'Test app', redirectUris: [LOOPBACK], ...settings } };
  return at.apps.registerApp(request, await at.as('dev'));
}

interface Named {
  readonly clientId: string;
}

const toNamed = ({ app }: Awaited<ReturnType<typeof register>>): Named => ({ clientId: app?.clientId ?? '' });
const client = toNamed(await register({ redirectUris: [LOOPBACK, SCHEME, 'https://app.test/callback'] }));

const prove = (by: ProofKey) => by.prove({ method: 'POST', url: `${ISSUER}/oauth/token`, now: clock.now() });
const proofOf = async (by: ProofKey | null) => (by === null ? {} : { dpop: await prove(by) });

/** The requests of an app without a key, such as AppAuth sends them, or of one with a key. */
const obtainCode = async (named: Named = client, redirectUri = LOOPBACK, at: Harness = harness) => {
  const { pendingId } = await at.authorizations.openAuthorization({
    client: named,
    redirectUri,
    scope: HEART,
    codeChallenge: challenge,
    codeChallengeMethod: 'S256',
    frontChannel: true,
  });
  const decision = { pendingId, allRequested: true, expiresInDays: 90 };
  const approved = await at.authorizations.completeAuthorization(decision, await at.as('ada'));
  return codeOf(approved.redirectUri);
};

const exchange = async (code: string, by: ProofKey | null = null, changes: object = {}) =>
  harness.exchange(client, code, {
    redirectUri: LOOPBACK,
    codeVerifier: verifier,
    ...(await proofOf(by)),
    ...changes,
  });

const refresh = async (refreshToken: string, by: ProofKey | null = null) =>
  harness.refresh(client, refreshToken, undefined, await proofOf(by));

const statusOf = async (token: string) => (await harness.introspect(token)).status;

/** Lets the uses of all refresh tokens have been so many seconds earlier. */
async function age(seconds: number): Promise<void> {
  const owner = await harness.connect();
  await owner.query('UPDATE token_family SET rotated_at = rotated_at - make_interval(secs => $1)', [seconds]);
}

describe('the registration of an app without a secret', () => {
  test('issues no secret, forces PKCE, and leaves bound tokens to the app', async () => {
    const { app, clientSecret } = await register({});
    expect(clientSecret).toBe('');
    expect(app).toMatchObject({
      applicationType: 'public',
      secretLast4: '',
      tokenEndpointAuthMethod: 'none',
      requirePkce: true,
      dpopBoundAccessTokens: false,
    });
    const rotation = harness.apps.rotateSecret({ clientId: app?.clientId ?? '' }, await harness.as('dev'));
    expect(await reasonOf(rotation)).toBe('conflict');
  });

  test.each<[string, string, object, string]>([
    ['without PKCE', 'public', { requirePkce: false }, 'requirePkce'],
    [
      'with a secret',
      'public',
      { tokenEndpointAuthMethod: 'client_secret_basic' },
      'tokenEndpointAuthMethod',
    ],
    ['with keys', 'public', { jwks: JSON.stringify({ keys: [key.publicJwk] }) }, 'jwks'],
    ['of another type', 'desktop', {}, 'applicationType'],
    [
      'without a secret for a server',
      'server',
      { tokenEndpointAuthMethod: 'none' },
      'tokenEndpointAuthMethod',
    ],
  ])('is refused %s', async (_what, type, changes, parameter) => {
    const { reason, violations } = await refusalOf(register(changes, type));
    expect([reason, violations.map((violation) => violation.parameter)]).toEqual([
      'invalid_request',
      expect.arrayContaining([parameter]),
    ]);
  });

  test('cannot be undone by a change', async () => {
    const change = harness.updateApp(client.clientId, { requirePkce: false });
    expect(await reasonOf(change)).toBe('invalid_request');
  });
});

describe('a deployment that', () => {
  const settingsOf = async (at: Harness, named: Named) => {
    const { apps } = await at.apps.listApps(named, await at.as('dev'));
    return apps[0]?.dpopBoundAccessTokens;
  };

  test('demands keys registers bound apps alone, and ends connections without a key', async () => {
    await using strict = await startHarness({ PUBLIC_APPS: 'bound' });
    const unbound = await refusalOf(register({ dpopBoundAccessTokens: false }, 'public', strict));
    expect(unbound.violations).toMatchObject([{ parameter: 'dpopBoundAccessTokens' }]);
    const named = toNamed(await register({}, 'public', strict));
    expect(await settingsOf(strict, named)).toBe(true);
    // As an app has them that was registered before the demand.
    const owner = await strict.connect();
    await owner.query('UPDATE app SET dpop_bound_access_tokens = false');
    const request = { redirectUri: LOOPBACK, codeVerifier: verifier };
    const code = await obtainCode(named, LOOPBACK, strict);
    expect(await reasonOf(strict.exchange(named, code, request))).toBe('invalid_dpop_proof');
    const issued = await strict.exchange(named, code, { ...request, dpop: await prove(key) });
    expect(issued.dpopBound).toBe(true);
    await owner.query('UPDATE token_family SET jkt = NULL, is_bound = false');
    const dpop = await prove(key);
    const renewed = refusalOf(strict.refresh(named, issued.refreshToken, undefined, { dpop }));
    expect(await renewed).toMatchObject({
      reason: 'invalid_grant',
      message: expect.stringContaining('without a key'),
    });
  });

  test('refuses them registers none, and does not know those that exist', async () => {
    await using strict = await startHarness({ PUBLIC_APPS: 'refused' });
    const { violations } = await refusalOf(register({}, 'public', strict));
    expect(violations).toMatchObject([{ parameter: 'applicationType' }]);
    const { clientId } = await strict.registerApp();
    const owner = await strict.connect();
    await owner.query(
      "UPDATE app SET application_type = 'public', token_endpoint_auth_method = 'none', require_pkce = true",
    );
    expect(await reasonOf(strict.tokens.revokeToken({ client: { clientId }, token: 'x' }))).toBe(
      'unauthorized',
    );
    expect(await reasonOf(obtainCode({ clientId }, LOOPBACK, strict))).toBe('unauthorized');
  });
});

test.each([
  ['of the loopback interface with another port', 'http://127.0.0.1:49152/callback'],
  ['with a scheme of its own', SCHEME],
  ['of the web', 'https://app.test/callback'],
])('an app without a secret connects at an address %s', async (_what, redirectUri) => {
  const code = await obtainCode(client, redirectUri);
  expect((await exchange(code, null, { redirectUri })).dpopBound).toBe(false);
});

describe('an app without a secret and without a key', () => {
  test('gets bearer tokens of ten minutes by its client id and verifier, and another pair at each refresh', async () => {
    const issued = await exchange(await obtainCode());
    expect([issued.dpopBound, issued.expiresInSeconds]).toEqual([false, 600]);
    const renewed = await refresh(issued.refreshToken);
    expect(renewed).toMatchObject({ dpopBound: false, expiresInSeconds: 600 });
    expect(renewed.refreshToken).not.toBe(issued.refreshToken);
    await tokens.revokeToken({ client, token: renewed.refreshToken });
    expect(await statusOf(renewed.accessToken)).toBe(TokenStatus.DEAD);
  });

  test('is named by its refresh token alone, and an app with a secret is not', async () => {
    const { refreshToken } = await exchange(await obtainCode());
    const named = await harness.authorizations.authenticateClient({ refreshToken });
    expect(named.clientId).toBe(client.clientId);
    const app = await harness.registerApp();
    const other = await harness.exchange(app, await harness.obtainCode(app));
    for (const token of [other.refreshToken, other.accessToken, 'x']) {
      const asked = harness.authorizations.authenticateClient({ refreshToken: token });
      expect(await reasonOf(asked)).toBe('unauthorized');
    }
  });

  test('gets the same pair for a repeated refresh within 10 s', async () => {
    const { refreshToken } = await exchange(await obtainCode());
    const first = await refresh(refreshToken);
    await age(8);
    const { accessToken, refreshToken: next } = await refresh(refreshToken);
    expect([accessToken, next]).toEqual([first.accessToken, first.refreshToken]);
  });

  test('loses the connection when a refresh token is used again after 10 s, or after its successor', async () => {
    for (const makeOld of [() => age(11), (next: string) => refresh(next)]) {
      const { refreshToken } = await exchange(await obtainCode());
      const second = await refresh(refreshToken);
      await makeOld(second.refreshToken);
      expect(await reasonOf(refresh(refreshToken))).toBe('invalid_grant');
      expect(await statusOf(second.accessToken)).toBe(TokenStatus.DEAD);
      expect(await reasonOf(refresh(second.refreshToken))).toBe('invalid_grant');
    }
  });

  test('still loses the connection when a thief has refreshed it with a key', async () => {
    const { refreshToken } = await exchange(await obtainCode());
    const stolen = await refresh(refreshToken, thief);
    await refresh(stolen.refreshToken, thief);
    expect(await reasonOf(refresh(refreshToken))).toBe('invalid_grant');
    expect(await statusOf(stolen.accessToken)).toBe(TokenStatus.DEAD);
  });
});

describe('an app without a secret', () => {
  test('with a key gets bound tokens, and the same pair for a repeated refresh within 60 s', async () => {
    const issued = await exchange(await obtainCode(), key);
    expect(await reasonOf(refresh(issued.refreshToken))).toBe('invalid_dpop_proof');
    const renewed = await refresh(issued.refreshToken, key);
    expect(await harness.introspect(renewed.accessToken)).toMatchObject({ jkt: key.jkt });
    await age(55);
    expect((await refresh(issued.refreshToken, key)).refreshToken).toBe(renewed.refreshToken);
  });

  test('gets no token without a verifier', async () => {
    expect(await reasonOf(exchange(await obtainCode(), key, { codeVerifier: '' }))).toBe('invalid_grant');
  });

  test('loses a code after 60 s', async () => {
    const code = await obtainCode();
    clock.advance(61_000);
    expect(await reasonOf(exchange(code))).toBe('invalid_grant');
  });

  test('has no token of its own, no introspection, and no secret', async () => {
    const own = { client, grantType: 'client_credentials' };
    expect(await reasonOf(tokens.issueToken(own))).toBe('unauthorized_client');
    expect(await reasonOf(tokens.introspectOwnToken({ client, token: 'x' }))).toBe('unauthorized');
    const withSecret = { client: { ...client, clientSecret: '' }, grantType: 'client_credentials' };
    expect(await reasonOf(tokens.issueToken(withSecret))).toBe('unauthorized');
  });

  test('is unknown while it is suspended', async () => {
    const suspended = toNamed(await register({}));
    await harness.setStatus(suspended, AppStatus.SUSPENDED);
    expect(await reasonOf(tokens.revokeToken({ client: suspended, token: 'x' }))).toBe('unauthorized');
  });
});

describe('nobody else can end the tokens of an app without a secret', () => {
  test('with a used code and no verifier', async () => {
    const code = await obtainCode();
    const { accessToken } = await exchange(code, key);
    for (const codeVerifier of ['', 'x'.repeat(43)]) {
      expect(await reasonOf(exchange(code, thief, { codeVerifier }))).toBe('invalid_grant');
    }
    expect(await statusOf(accessToken)).toBe(TokenStatus.LIVE);
  });

  test('but the verifier, which a thief of both has, ends them', async () => {
    const code = await obtainCode();
    const { accessToken } = await exchange(code, key);
    expect(await reasonOf(exchange(code, thief))).toBe('invalid_grant');
    expect(await statusOf(accessToken)).toBe(TokenStatus.DEAD);
  });

  test('with a bound refresh token, new or used, and another key', async () => {
    const first = await exchange(await obtainCode(), key);
    expect(await reasonOf(refresh(first.refreshToken, thief))).toBe('invalid_grant');
    const second = await refresh(first.refreshToken, key);
    await refresh(second.refreshToken, key);
    expect(await reasonOf(refresh(first.refreshToken, thief))).toBe('invalid_grant');
    expect(await statusOf(second.accessToken)).toBe(TokenStatus.LIVE);
    expect(await reasonOf(refresh(first.refreshToken, key))).toBe('invalid_grant');
    expect(await statusOf(second.accessToken)).toBe(TokenStatus.DEAD);
  });

  test('with an old bound refresh token at the revocation', async () => {
    const first = await exchange(await obtainCode(), key);
    const second = await refresh(first.refreshToken, key);
    const third = await refresh(second.refreshToken, key);
    await age(61);
    await tokens.revokeToken({ client, token: first.refreshToken });
    expect(await statusOf(third.accessToken)).toBe(TokenStatus.LIVE);
    await tokens.revokeToken({ client, token: third.refreshToken });
    expect(await statusOf(third.accessToken)).toBe(TokenStatus.DEAD);
  });

  test('by fifty exchanges at the same time with other keys', async () => {
    const code = await obtainCode();
    const { won } = await race(50, () => exchange(code, thief, { codeVerifier: 'y'.repeat(43) }));
    expect(won).toEqual([]);
  });
});
