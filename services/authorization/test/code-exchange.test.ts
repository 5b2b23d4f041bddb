import { createHash } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { newSecret } from '@phds/service-kit/secrets';
import { createPkce, HEART, race, reasonOf, refusalOf, SLEEP, shareHarness } from './harness.ts';

const harness = await shareHarness();

const app = await harness.registerApp();

describe('an exchange', () => {
  test('returns a token pair for the approved scopes, valid for at most an hour', async () => {
    const code = await harness.obtainCode(app, { approved: [HEART] });
    const issued = await harness.exchange(app, code);
    expect(issued).toMatchObject({ scope: HEART, expiresInSeconds: 3600 });
    expect(issued.grantId).toMatch(/^grt_/);
    const { status, principal } = await harness.introspect(issued.accessToken);
    expect(status).toBe(TokenStatus.LIVE);
    expect(principal).toMatchObject({ userId: 'ada', clientId: app.clientId, scopes: [HEART] });
  });

  test('never outlives the grant', async () => {
    const code = await harness.obtainCode(app);
    const grant = [...harness.consent.grants.values()].at(-1)!;
    grant.expiresAt = new Date(harness.clock.now().getTime() + 90_500);
    expect((await harness.exchange(app, code)).expiresInSeconds).toBe(90);
  });

  test("has one winner among 50 concurrent attempts, and the others revoke the winner's tokens", async () => {
    const code = await harness.obtainCode(app);
    const { won, lost } = await race(50, () => harness.exchange(app, code));
    expect(won).toHaveLength(1);
    expect(lost).toEqual(Array(49).fill('invalid_grant'));
    const [pair] = won;
    expect((await harness.introspect(pair!.accessToken)).status).toBe(TokenStatus.DEAD);
    expect(await reasonOf(harness.refresh(app, pair!.refreshToken))).toBe('invalid_grant');
    // The consent of the person remains.
    expect([...harness.consent.grants.values()].at(-1)?.status).toBe(GrantStatus.ACTIVE);
  });

  test('of a used code, even with a wrong redirect URI or after its expiry, revokes the tokens of that exchange and no others', async () => {
    const code = await harness.obtainCode(app);
    const issued = await harness.exchange(app, code);
    harness.clock.advance(301_000);
    const other = await harness.exchange(app, await harness.obtainCode(app));
    const replay = harness.exchange(app, code, { redirectUri: 'https://other.test/' });
    expect(await reasonOf(replay)).toBe('invalid_grant');
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.DEAD);
    expect((await harness.introspect(other.accessToken)).status).toBe(TokenStatus.LIVE);
  });

  test("by another client has no effect on the owner's code, before or after its use", async () => {
    const stranger = await harness.registerApp();
    const code = await harness.obtainCode(app);
    for (let attempt = 0; attempt < 6; attempt += 1) {
      expect(await reasonOf(harness.exchange(stranger, code))).toBe('invalid_grant');
    }
    const issued = await harness.exchange(app, code);
    expect(await reasonOf(harness.exchange(stranger, code))).toBe('invalid_grant');
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.LIVE);
  });
});

describe('a code', () => {
  test('lives 300 seconds', async () => {
    const late = await harness.obtainCode(app);
    harness.clock.advance(300_000);
    expect(await reasonOf(harness.exchange(app, late))).toBe('invalid_grant');
    const intime = await harness.obtainCode(app);
    harness.clock.advance(299_000);
    expect((await harness.exchange(app, intime)).accessToken).toMatch(/^phds_at_/);
  });

  test('does not consume the code while consent is unavailable', async () => {
    const code = await harness.obtainCode(app);
    harness.consent.away.add('checkLiveness');
    expect(await reasonOf(harness.exchange(app, code))).toBe('unavailable');
    harness.consent.away.clear();
    expect((await harness.exchange(app, code)).accessToken).toMatch(/^phds_at_/);
  });

  test('replayed while the ledger is unavailable answers that the outcome is unknown, and revokes the tokens when repeated', async () => {
    const code = await harness.obtainCode(app);
    const issued = await harness.exchange(app, code);
    harness.consent.away.add('revokeTokens');
    expect(await reasonOf(harness.exchange(app, code))).toBe('unavailable');
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.LIVE);
    harness.consent.away.clear();
    expect(await reasonOf(harness.exchange(app, code))).toBe('invalid_grant');
    expect((await harness.introspect(issued.accessToken)).status).toBe(TokenStatus.DEAD);
  });

  test('yields no usable tokens when the app is suspended between check and use', async () => {
    const suspended = await harness.registerApp();
    const code = await harness.obtainCode(suspended);
    harness.consent.onCheckLiveness = async () => {
      harness.consent.onCheckLiveness = () => Promise.resolve();
      await harness.setStatus(suspended, AppStatus.SUSPENDED);
    };
    expect(await reasonOf(harness.exchange(suspended, code))).toBe('unauthorized');
  });
});

const ENDED_GRANTS = [
  [GrantStatus.REVOKED, 'The grant was revoked; GET /oauth/grants tells when and by whom.'],
  [GrantStatus.EXPIRED, 'The grant has expired.'],
] as const;

describe('an exchange that is refused with invalid_grant', () => {
  const messageOf = async (exchange: Promise<unknown>) => {
    const { reason, message, violations } = await refusalOf(exchange);
    expect([reason, violations]).toEqual(['invalid_grant', []]);
    return message;
  };

  test("has the same message for every code that is not the app's own", async () => {
    const stranger = await harness.registerApp();
    const messages = [
      await messageOf(harness.exchange(app, newSecret('authorization_code'))),
      await messageOf(harness.exchange(app, newSecret('refresh_token'))),
      await messageOf(harness.exchange(app, 'phds_ac_nonsense')),
      await messageOf(harness.exchange(stranger, await harness.obtainCode(app))),
    ];
    expect(new Set(messages).size).toBe(1);
  });

  test("states the cause if the code is the app's own", async () => {
    const { challenge, verifier } = createPkce();
    const fresh = () => harness.obtainCode(app);
    const withPkce = () => harness.obtainCode(app, { codeChallenge: challenge });
    const used = await fresh();
    await harness.exchange(app, used);
    expect(await messageOf(harness.exchange(app, used))).toBe(
      'The code was used before. The tokens that it was exchanged for are revoked.',
    );
    const expired = await fresh();
    harness.clock.advance(300_000);
    expect(await messageOf(harness.exchange(app, expired))).toBe('The code has expired.');
    const redirectUri = 'https://app.test/callback';
    expect(await messageOf(harness.exchange(app, await fresh(), { redirectUri }))).toMatch(
      /^redirect_uri differs/,
    );
    const verifiers = [
      [await fresh(), verifier, /no code_challenge/],
      [await withPkce(), undefined, /code_verifier is missing/],
      [await withPkce(), createPkce().verifier, /code_verifier does not fit/],
    ] as const;
    for (const [code, codeVerifier, message] of verifiers) {
      const exchange = harness.exchange(app, code, codeVerifier === undefined ? {} : { codeVerifier });
      expect(await messageOf(exchange)).toMatch(message);
    }
    for (const [status, message] of ENDED_GRANTS) {
      const code = await fresh();
      [...harness.consent.grants.values()].at(-1)!.status = status;
      expect(await messageOf(harness.exchange(app, code))).toBe(message);
    }
    const issued = await harness.exchange(app, await withPkce(), { codeVerifier: verifier });
    expect(issued.scope).toBe(`${HEART} ${SLEEP}`);
  });

  test('counts the failed attempts of the owner, and tells when and why the fifth one invalidates the code', async () => {
    const { challenge, verifier } = createPkce();
    const [code, other] = [
      await harness.obtainCode(app, { codeChallenge: challenge }),
      await harness.obtainCode(app, { codeChallenge: challenge }),
    ];
    for (let attempt = 1; attempt < 5; attempt += 1) await messageOf(harness.exchange(app, other));
    expect((await harness.exchange(app, other, { codeVerifier: verifier })).scope).not.toBe('');
    const messages: string[] = [];
    for (let attempt = 1; attempt <= 12; attempt += 1) {
      messages.push(await messageOf(harness.exchange(app, code, { codeVerifier: createPkce().verifier })));
    }
    const mismatch = 'code_verifier does not fit the code_challenge.';
    expect(messages.slice(0, 4)).toEqual([1, 2, 3, 4].map((n) => `${mismatch} Failed attempt ${n} of 5.`));
    expect(messages[4]).toBe(
      `${mismatch} Failed attempt 5 of 5. The code is burned: ask for a new authorization.`,
    );
    expect(await messageOf(harness.exchange(app, code, { codeVerifier: verifier }))).toBe(
      'The code was burned by 5 failed attempts. Ask for a new authorization.',
    );
    expect(new Set(messages.slice(5)).size).toBe(1);
  });
});

test.each([
  ['42 characters', 'x'.repeat(42)],
  ['129 characters', 'x'.repeat(129)],
  ['base64', `${'x'.repeat(42)}+/=`],
])('a code_verifier of %s is refused by its form, and counts as no attempt', async (_what, codeVerifier) => {
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  const code = await harness.obtainCode(app, { codeChallenge });
  for (let attempt = 1; attempt <= 5; attempt += 1) {
    expect(await refusalOf(harness.exchange(app, code, { codeVerifier }))).toMatchObject({
      reason: 'invalid_request',
      violations: [{ parameter: 'code_verifier', message: expect.stringContaining('43 to 128') }],
    });
  }
  expect((await refusalOf(harness.exchange(app, code))).message).toMatch(/Failed attempt 1 of 5/);
});

test('the parameters of the token endpoint are checked after the client, and named', async () => {
  const client = { ...app, clientSecret: newSecret('client_secret') };
  expect(await reasonOf(harness.tokens.issueToken({ client }))).toBe('unauthorized');
  const violationsOf = async (parameters: object) =>
    (await refusalOf(harness.tokens.issueToken({ client: app, ...parameters }))).violations.map(
      ({ parameter }) => parameter,
    );
  expect(await violationsOf({})).toEqual(['grant_type']);
  expect(await violationsOf({ grantType: '' })).toEqual(['grant_type']);
  expect(await violationsOf({ grantType: 'authorization_code' })).toEqual(['code']);
  expect(await violationsOf({ grantType: 'authorization_code', code: 'x' })).toEqual(['redirect_uri']);
  expect(await violationsOf({ grantType: 'refresh_token' })).toEqual(['refresh_token']);
  const password = harness.tokens.issueToken({ client: app, grantType: 'password' });
  expect(await reasonOf(password)).toBe('unsupported_grant_type');
});
