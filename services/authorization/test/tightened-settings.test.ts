import { beforeEach, describe, expect, test } from '@jest/globals';
import {
  codeOf,
  createPkce,
  HEART,
  REDIRECT_URI,
  reasonOf,
  refusalOf,
  SLEEP,
  shareHarness,
  type TestApp,
} from './harness.ts';

const harness = await shareHarness();

const OTHER_URI = 'https://app.test/other';

let app: TestApp;

beforeEach(async () => {
  app = await harness.registerApp({ redirectUris: [REDIRECT_URI, OTHER_URI], scopes: [HEART, SLEEP] });
});

interface Settings {
  readonly redirectUris?: string[];
  readonly scopes?: string[];
  readonly requirePkce?: boolean;
}

/** Every way to remove a setting that the requests of these tests need. */
const TIGHTENINGS: readonly [what: string, settings: Settings][] = [
  ['a redirect URI that was removed', { redirectUris: [OTHER_URI] }],
  ['a scope that was removed', { scopes: [HEART] }],
  ['no PKCE where it became required', { requirePkce: true }],
];

const update = (settings: Settings) => harness.updateApp(app.clientId, settings);

async function open(codeChallenge?: string) {
  return harness.authorizations.openAuthorization({
    client: app,
    redirectUri: REDIRECT_URI,
    scope: `${HEART} ${SLEEP}`,
    ...(codeChallenge === undefined ? {} : { codeChallenge, codeChallengeMethod: 'S256' }),
  });
}

const approve = async (pendingId: string, userId = 'ada') =>
  harness.authorizations.completeAuthorization({ pendingId, allRequested: true }, await harness.as(userId));
const deny = async (pendingId: string) =>
  harness.authorizations.denyAuthorization({ pendingId }, await harness.as('ada'));

describe('settings that were tightened after a request was opened', () => {
  test.each(TIGHTENINGS)(
    'refuse the approval of a request with %s, and no grant is created',
    async (_, settings) => {
      const { pendingId } = await open();
      await update(settings);
      const grants = harness.consent.grants.size;
      const refusal = await refusalOf(approve(pendingId));
      expect(refusal).toMatchObject({ reason: 'conflict', message: expect.stringContaining('Start again') });
      expect(harness.consent.grants.size).toBe(grants);
    },
  );

  test.each(TIGHTENINGS)(
    'refuse the exchange of a code with %s, and tell the app why',
    async (_, settings) => {
      const code = await harness.obtainCode(app);
      await update(settings);
      const refusal = await refusalOf(harness.exchange(app, code));
      expect(refusal).toMatchObject({
        reason: 'invalid_grant',
        message: expect.stringMatching(/Ask the person again/),
      });
      const other = await refusalOf(harness.exchange(await harness.registerApp(), code));
      expect(other.message).not.toBe(refusal.message);
    },
  );

  test.each(TIGHTENINGS)('make the request_uri of a request with %s unknown', async (_, settings) => {
    const { requestUri } = await open();
    await update(settings);
    const { clientId } = app;
    expect(await reasonOf(harness.authorizations.resolveRequestUri({ clientId, requestUri }))).toBe(
      'unauthorized',
    );
  });

  test('refuse a repeated approval, so that no browser is sent to a removed redirect URI', async () => {
    const { pendingId } = await open();
    await approve(pendingId);
    await update({ redirectUris: [OTHER_URI] });
    expect(await reasonOf(approve(pendingId))).toBe('conflict');
  });

  test('neither claim a request for the person who is refused, nor reveal it to another one', async () => {
    const { pendingId } = await open();
    await update({ requirePkce: true });
    expect(await reasonOf(approve(pendingId, 'ada'))).toBe('conflict');
    await update({ requirePkce: false });
    await approve(pendingId, 'ben');
    expect(harness.consent.pending.get(pendingId)?.claimedBy).toBe('ben');
    await update({ requirePkce: true });
    expect(await reasonOf(approve(pendingId, 'ada'))).toBe('not_found');
  });

  test('refuse the code of an approval that preceded them', async () => {
    const { pendingId } = await open();
    harness.consent.onApprove = async () => void (await update({ scopes: [HEART] }));
    const { redirectUri } = await approve(pendingId);
    harness.consent.onApprove = () => Promise.resolve();
    const code = codeOf(redirectUri);
    expect(await reasonOf(harness.exchange(app, code))).toBe('invalid_grant');
  });

  test('do not invalidate a code, which works again once the settings allow it', async () => {
    const code = await harness.obtainCode(app);
    await update({ scopes: [HEART] });
    for (let attempt = 0; attempt < 6; attempt += 1) {
      expect(await reasonOf(harness.exchange(app, code))).toBe('invalid_grant');
    }
    await update({ scopes: [HEART, SLEEP] });
    expect((await harness.exchange(app, code)).scope).toBe(`${HEART} ${SLEEP}`);
  });

  test('still allow a denial, which has no redirect if its URI was removed', async () => {
    const [removed, kept] = [await open(), await open()];
    await update({ redirectUris: [OTHER_URI] });
    expect((await deny(removed.pendingId)).redirectUri).toBe('');
    await update({ redirectUris: [REDIRECT_URI], requirePkce: true });
    expect((await deny(kept.pendingId)).redirectUri).toContain('error=access_denied');
  });
});

describe('settings that changed without removing anything that a request needs', () => {
  test('do not affect its approval and exchange', async () => {
    const { verifier, challenge } = createPkce();
    const { pendingId } = await open(challenge);
    await update({ redirectUris: [REDIRECT_URI], requirePkce: true });
    const { redirectUri } = await approve(pendingId);
    const code = codeOf(redirectUri);
    const issued = await harness.exchange(app, code, { codeVerifier: verifier });
    expect(issued.scope).toBe(`${HEART} ${SLEEP}`);
  });

  test('still allow an approval without the removed scope, and its code works', async () => {
    const { pendingId } = await open();
    await update({ scopes: [HEART] });
    const session = await harness.as('ada');
    const choose = (scopes: string[]) =>
      harness.authorizations.completeAuthorization({ pendingId, scopes }, session);
    expect(await reasonOf(choose([HEART, SLEEP]))).toBe('conflict');
    const { redirectUri } = await choose([HEART]);
    const code = codeOf(redirectUri);
    expect((await harness.exchange(app, code)).scope).toBe(HEART);
  });

  test('do not affect a request from another port of a registered loopback redirect', async () => {
    await update({ redirectUris: ['http://127.0.0.1/cb'] });
    const redirectUri = 'http://127.0.0.1:51001/cb';
    const code = await harness.obtainCode(app, { redirectUri });
    await update({ requirePkce: false });
    expect((await harness.exchange(app, code, { redirectUri })).accessToken).toMatch(/^phds_at_/);
  });

  test('do not affect tokens that were issued before', async () => {
    const { refreshToken } = await harness.exchange(app, await harness.obtainCode(app));
    await update({ redirectUris: [OTHER_URI], scopes: [HEART], requirePkce: true });
    expect((await harness.refresh(app, refreshToken)).accessToken).toMatch(/^phds_at_/);
  });
});
