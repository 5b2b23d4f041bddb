import { describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { createProofKey, type ProofKey } from '@phds/test-kit/dpop-proofs';
import { codeOf, createPkce, HEART, ISSUER, race, reasonOf, refusalOf, shareHarness } from './harness.ts';

const DAY_MS = 24 * 3_600_000;
const NATIVE_URI = 'http://127.0.0.1/callback';
const PAGE_URI = 'https://app.test/callback';

const harness = await shareHarness();
const { clock, tokens, authorizations } = harness;
const key = await createProofKey();
const thief = await createProofKey();
const { verifier, challenge } = createPkce();

async function register(applicationType: string, settings: object) {
  const request = { applicationType, settings: { name: 'Test app', ...settings } };
  return harness.apps.registerApp(request, await harness.as('dev'));
}

interface Named {
  readonly clientId: string;
}

const registered = await Promise.all([
  register('native', { redirectUris: [NATIVE_URI, 'com.example.app:/done'] }),
  register('browser', { redirectUris: [PAGE_URI] }),
]);
const [native, browser] = registered.map(({ app }) => ({ clientId: app?.clientId ?? '' })) as [Named, Named];

const uriOf = (client: Named) => (client === native ? NATIVE_URI : PAGE_URI);
const prove = (by: ProofKey) => by.prove({ method: 'POST', url: `${ISSUER}/oauth/token`, now: clock.now() });

async function obtainCode(client: Named): Promise<string> {
  const { pendingId } = await authorizations.openAuthorization({
    client,
    redirectUri: uriOf(client),
    scope: HEART,
    codeChallenge: challenge,
    codeChallengeMethod: 'S256',
    requireAuthentication: true,
  });
  const decision = { pendingId, allRequested: true, expiresInDays: 90 };
  const { redirectUri } = await authorizations.completeAuthorization(decision, await harness.as('ada'));
  return codeOf(redirectUri);
}

const proofOf = async (by: ProofKey | null) => (by === null ? {} : { dpop: await prove(by) });

const exchange = async (client: Named, code: string, by: ProofKey | null = key, changes: object = {}) =>
  harness.exchange(client, code, {
    redirectUri: uriOf(client),
    codeVerifier: verifier,
    ...(await proofOf(by)),
    ...changes,
  });

const refresh = async (client: Named, refreshToken: string, by: ProofKey | null = key) =>
  harness.refresh(client, refreshToken, undefined, await proofOf(by));

const statusOf = async (token: string) => (await harness.introspect(token)).status;

describe('the registration of an app without a secret', () => {
  test('issues no secret, and forces PKCE and bound tokens', async () => {
    const { app, clientSecret } = await register('browser', { redirectUris: [PAGE_URI] });
    expect(clientSecret).toBe('');
    expect(app).toMatchObject({
      applicationType: 'browser',
      secretLast4: '',
      tokenEndpointAuthMethod: 'none',
      requirePkce: true,
      dpopBoundAccessTokens: true,
      allowedOrigins: ['https://app.test'],
    });
    const rotation = harness.apps.rotateSecret({ clientId: app?.clientId ?? '' }, await harness.as('dev'));
    expect(await reasonOf(rotation)).toBe('conflict');
  });

  test.each<[string, string, object, string]>([
    ['without PKCE', 'native', { requirePkce: false }, 'requirePkce'],
    ['with bearer tokens', 'native', { dpopBoundAccessTokens: false }, 'dpopBoundAccessTokens'],
    [
      'with a secret',
      'native',
      { tokenEndpointAuthMethod: 'client_secret_basic' },
      'tokenEndpointAuthMethod',
    ],
    ['with the profile fapi2', 'native', { securityProfile: 'fapi2' }, 'securityProfile'],
    ['with origins of a native app', 'native', { allowedOrigins: ['https://app.test'] }, 'allowedOrigins'],
    ['with a path in an origin', 'browser', { allowedOrigins: ['https://app.test/'] }, 'allowedOrigins'],
    ['with a plain origin', 'browser', { allowedOrigins: ['http://app.test'] }, 'allowedOrigins'],
    ['with the scheme of a native app', 'browser', { redirectUris: ['com.example:/a'] }, 'redirectUris'],
    ['of another type', 'desktop', {}, 'applicationType'],
    [
      'without a secret for a server',
      'server',
      { tokenEndpointAuthMethod: 'none' },
      'tokenEndpointAuthMethod',
    ],
  ])('is refused %s', async (_what, type, changes, parameter) => {
    const redirectUris = [type === 'browser' ? PAGE_URI : NATIVE_URI];
    const { reason, violations } = await refusalOf(register(type, { redirectUris, ...changes }));
    expect([reason, violations.map((violation) => violation.parameter)]).toEqual([
      'invalid_request',
      expect.arrayContaining([parameter]),
    ]);
  });

  test('cannot be undone by a change', async () => {
    const change = harness.updateApp(native.clientId, { dpopBoundAccessTokens: false });
    expect(await reasonOf(change)).toBe('invalid_request');
  });
});

describe('a loopback address with another port', () => {
  const pkce = { codeChallenge: challenge, codeChallengeMethod: 'S256' };
  const open = (client: Named, redirectUri: string) =>
    authorizations.openAuthorization({ client, redirectUri, scope: HEART, ...pkce });

  test('is accepted of a native app, and refused of a page', async () => {
    expect((await open(native, 'http://127.0.0.1:49152/callback')).pendingId).not.toBe('');
    const local = await register('browser', { redirectUris: ['http://localhost:5173/'] });
    const page = { clientId: local.app?.clientId ?? '' };
    expect((await open(page, 'http://localhost:5173/')).pendingId).not.toBe('');
    expect(await reasonOf(open(page, 'http://localhost:5174/'))).toBe('unauthorized');
  });
});

describe('an app without a secret', () => {
  test('gets bound tokens of ten minutes by its client id, verifier and proof', async () => {
    const issued = await exchange(native, await obtainCode(native));
    expect([issued.dpopBound, issued.expiresInSeconds]).toEqual([true, 600]);
    const renewed = await refresh(native, issued.refreshToken);
    expect(renewed.refreshToken).not.toBe(issued.refreshToken);
    expect(await harness.introspect(renewed.accessToken)).toMatchObject({ jkt: key.jkt, allowedOrigins: [] });
    await tokens.revokeToken({ client: native, token: renewed.refreshToken });
    expect(await statusOf(renewed.accessToken)).toBe(TokenStatus.DEAD);
  });

  test('of a page tells the origins of its pages', async () => {
    const { accessToken } = await exchange(browser, await obtainCode(browser));
    expect((await harness.introspect(accessToken)).allowedOrigins).toEqual(['https://app.test']);
    const asked = { client: browser, origin: 'https://app.test' };
    expect(await authorizations.authenticateClient(asked)).toMatchObject({
      applicationType: 'browser',
      originAllowed: true,
    });
    const foreign = { client: browser, origin: 'https://other.test' };
    expect((await authorizations.authenticateClient(foreign)).originAllowed).toBe(false);
  });

  test.each([
    ['without a proof', null, {}, 'invalid_dpop_proof'],
    ['without a verifier', key, { codeVerifier: '' }, 'invalid_grant'],
  ] as const)('gets no token %s', async (_what, by, changes, reason) => {
    expect(await reasonOf(exchange(native, await obtainCode(native), by, changes))).toBe(reason);
  });

  test('loses a code after 60 s', async () => {
    const code = await obtainCode(native);
    clock.advance(61_000);
    expect(await reasonOf(exchange(native, code))).toBe('invalid_grant');
  });

  test.each([
    ['native', 29, 31],
    ['browser', 0.9, 1.1],
  ])(
    'of type %s stays connected for so many days without a use: %d, not %d',
    async (type, within, beyond) => {
      const client = type === 'native' ? native : browser;
      const { refreshToken } = await exchange(client, await obtainCode(client));
      clock.advance(within * DAY_MS);
      const renewed = await refresh(client, refreshToken);
      clock.advance(beyond * DAY_MS);
      expect(await reasonOf(refresh(client, renewed.refreshToken))).toBe('invalid_grant');
    },
  );

  test('has no token of its own, no introspection, and no secret', async () => {
    const own = { client: native, grantType: 'client_credentials', dpop: await prove(key) };
    expect(await reasonOf(tokens.issueToken(own))).toBe('unauthorized_client');
    expect(await reasonOf(tokens.introspectOwnToken({ client: native, token: 'x' }))).toBe('unauthorized');
    const withSecret = { client: { ...native, clientSecret: '' }, grantType: 'client_credentials' };
    expect(await reasonOf(tokens.issueToken(withSecret))).toBe('unauthorized');
  });

  test('is unknown while it is suspended', async () => {
    const { app } = await register('native', { redirectUris: [NATIVE_URI] });
    const client = { clientId: app?.clientId ?? '' };
    await harness.setStatus(client, AppStatus.SUSPENDED);
    expect(await reasonOf(tokens.revokeToken({ client, token: 'x' }))).toBe('unauthorized');
  });
});

describe('nobody else can end the tokens of an app without a secret', () => {
  test('with a used code and no verifier', async () => {
    const code = await obtainCode(native);
    const { accessToken } = await exchange(native, code);
    for (const codeVerifier of ['', 'x'.repeat(43)]) {
      expect(await reasonOf(exchange(native, code, thief, { codeVerifier }))).toBe('invalid_grant');
    }
    expect(await statusOf(accessToken)).toBe(TokenStatus.LIVE);
  });

  test('but the verifier, which a thief of both has, ends them', async () => {
    const code = await obtainCode(native);
    const { accessToken } = await exchange(native, code);
    expect(await reasonOf(exchange(native, code, thief))).toBe('invalid_grant');
    expect(await statusOf(accessToken)).toBe(TokenStatus.DEAD);
  });

  test('with a refresh token, new or used, and another key', async () => {
    const first = await exchange(native, await obtainCode(native));
    expect(await reasonOf(refresh(native, first.refreshToken, thief))).toBe('invalid_grant');
    const second = await refresh(native, first.refreshToken);
    await refresh(native, second.refreshToken);
    expect(await reasonOf(refresh(native, first.refreshToken, thief))).toBe('invalid_grant');
    expect(await statusOf(second.accessToken)).toBe(TokenStatus.LIVE);
    expect(await reasonOf(refresh(native, first.refreshToken))).toBe('invalid_grant');
    expect(await statusOf(second.accessToken)).toBe(TokenStatus.DEAD);
  });

  test('with an old refresh token at the revocation', async () => {
    const first = await exchange(native, await obtainCode(native));
    const second = await refresh(native, first.refreshToken);
    const third = await refresh(native, second.refreshToken);
    const owner = await harness.connect();
    await owner.query(
      `UPDATE refresh_token SET rotated_at = rotated_at - interval '61 s' WHERE rotated_at IS NOT NULL`,
    );
    await tokens.revokeToken({ client: native, token: first.refreshToken });
    expect(await statusOf(third.accessToken)).toBe(TokenStatus.LIVE);
    await tokens.revokeToken({ client: native, token: third.refreshToken });
    expect(await statusOf(third.accessToken)).toBe(TokenStatus.DEAD);
  });

  test('by fifty exchanges at the same time with other keys', async () => {
    const code = await obtainCode(native);
    const { won } = await race(50, () => exchange(native, code, thief, { codeVerifier: 'y'.repeat(43) }));
    expect(won).toEqual([]);
  });
});
