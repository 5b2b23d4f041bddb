import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { BAD_USER_IDS, GOOD_USER_IDS, LONE_SURROGATE } from '@phds/test-kit/user-ids';
import { exportJWK, generateKeyPair, type JWTHeaderParameters, SignJWT } from 'jose';
import type { AppError } from '../src/errors.ts';
import { createSessionVerifier, SESSION_TOKEN_TYPE } from '../src/trust/session.ts';

const { privateKey, publicKey } = await generateKeyPair('EdDSA');
const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'EdDSA' }] });
const now = new Date('2026-01-02T03:04:05Z');
const seconds = now.getTime() / 1000;
const HOUR = 3600;
const DAY = 24 * HOUR;
const provider = {
  issuer: 'https://idp.example',
  audience: ['client-1', 'portal'],
  jwks,
  clock: { now: () => now },
};
const verify = createSessionVerifier(provider);

type Claims = Readonly<Record<string, unknown>>;

const BASE = { iss: 'https://idp.example', sub: 'ada', iat: seconds - 10, exp: seconds + 60 };

function sign(claims: Claims, header: Omit<JWTHeaderParameters, 'alg'>): Promise<string> {
  return new SignJWT({ ...BASE, ...claims })
    .setProtectedHeader({ alg: 'EdDSA', kid: 'k', ...header })
    .sign(privateKey);
}

/** A session that the host application signs itself. */
const signOwn = (claims: Claims = {}) => sign({ aud: 'portal', ...claims }, { typ: SESSION_TOKEN_TYPE });

/** An ID token of the identity provider. */
const signIdToken = (claims: Claims = {}, header: Omit<JWTHeaderParameters, 'alg'> = { typ: 'JWT' }) =>
  sign({ aud: 'client-1', nonce: 'n-1', ...claims }, header);

const KINDS = [
  ['a session of the host application', signOwn],
  ['an ID token', signIdToken],
] as const;

async function refusalOf(jwt: Promise<string>, verifier = verify): Promise<AppError> {
  return verifier(await jwt).then(
    () => Promise.reject(new Error('the session was accepted')),
    (error: AppError) => error,
  );
}

const UNAUTHORIZED = { reason: 'unauthorized', message: '' };

describe.each(KINDS)('%s', (_kind, issue) => {
  test('yields the person, and what the provider says about the sign-in', async () => {
    const signIn = { name: 'Ada Sommer', sid: 'session-1' };
    expect(await verify(await issue(signIn))).toEqual({
      userId: 'ada',
      name: 'Ada Sommer',
      subject: 'ada',
      sid: 'session-1',
      issuedAt: new Date((seconds - 10) * 1000),
      expiresAt: new Date((seconds + 60) * 1000),
      claims: expect.objectContaining(signIn),
    });
  });

  test('needs neither name nor sid', async () => {
    expect(await verify(await issue())).toMatchObject({ name: null, sid: null });
  });

  test.each([
    ['  Ada\u202E\nSommer\u0007 ', 'Ada Sommer'],
    ['𝒜'.repeat(101), '𝒜'.repeat(100)],
    [`${'a'.repeat(98)}👩\u200D⚕`, `${'a'.repeat(98)}👩`],
    ['\u2800\u200B', null],
    ['', null],
    [LONE_SURROGATE, null],
    [7, null],
    [['Ada'], null],
    [null, null],
  ])('with name %j calls the person %j', async (name, shown) => {
    expect(await verify(await issue({ name }))).toMatchObject({ userId: 'ada', name: shown });
  });

  test.each<readonly [string, Claims]>([
    ['expired this second', { exp: seconds }],
    ['without an expiry', { exp: undefined }],
    ['with an expiry that is not a number', { exp: '9999999999' }],
    ['not yet valid', { nbf: seconds + 61 }],
    ['without iat', { iat: undefined }],
    ['with an iat that is not a number', { iat: String(seconds) }],
    ['issued more than a minute ahead of our clock', { iat: seconds + 61 }],
    ['issued 24 hours ago', { iat: seconds - DAY, exp: seconds + DAY }],
    ['issued a year ago', { iat: seconds - 365 * DAY, exp: seconds + DAY }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['of our issuer with a slash at the end', { iss: 'https://idp.example/' }],
    ['without an issuer', { iss: undefined }],
    ['for another audience', { aud: 'other' }],
    ['for several other audiences', { aud: ['other', 'third'], azp: 'client-1' }],
    ['without an audience', { aud: undefined }],
    ['without a subject', { sub: undefined }],
    ['with a sid that is a number', { sid: 1 }],
    ['with an empty sid', { sid: '' }],
    ['with a lone surrogate as sid', { sid: LONE_SURROGATE }],
  ])('%s is refused without a reason', async (_defect, claims) => {
    expect(await refusalOf(issue(claims))).toMatchObject(UNAUTHORIZED);
  });

  test('is accepted if the clock of the provider is a minute ahead', async () => {
    const ahead = { iat: seconds + 60, nbf: seconds + 60, exp: seconds + HOUR };
    expect(await verify(await issue(ahead))).toMatchObject({ userId: 'ada' });
  });

  test('ends 24 hours after it was issued, whatever exp says', async () => {
    const clock = new FakeClock(now);
    const aged = createSessionVerifier({ ...provider, clock });
    for (const exp of [seconds + 30 * DAY, 1e300]) {
      clock.set(now);
      const session = await issue({ iat: seconds, exp });
      expect(await aged(session)).toMatchObject({ expiresAt: new Date((seconds + DAY) * 1000) });
      clock.advance(DAY * 1000 - 1);
      expect(await aged(session)).toMatchObject({ userId: 'ada' });
      clock.advance(1);
      await expect(aged(session)).rejects.toMatchObject(UNAUTHORIZED);
    }
  });

  test.each(GOOD_USER_IDS)('whose subject is a user id %s is accepted', async (_, userId) => {
    expect(await verify(await issue({ sub: userId }))).toMatchObject({ userId, subject: userId });
  });

  describe('takes the user id from the claim of the setting', () => {
    const byClaim = createSessionVerifier({ ...provider, userIdClaim: 'preferred_username' });

    test('and the subject from sub', async () => {
      const claims = { sub: '8d3f', preferred_username: 'zoë-李-😀' };
      expect(await byClaim(await issue(claims))).toMatchObject({ userId: 'zoë-李-😀', subject: '8d3f' });
    });

    test.each<readonly [string, unknown]>([
      ...BAD_USER_IDS,
      ['with a lone surrogate', LONE_SURROGATE],
      ['that is missing', undefined],
      ['that is a number', 42],
      ['that is a truth value', true],
      ['that is null', null],
      ['that is a list', ['ada']],
      ['that is an object', { length: 3 }],
    ])('and refuses a user id %s', async (_, value) => {
      expect(await refusalOf(issue({ sub: value }))).toMatchObject(UNAUTHORIZED);
      expect(await refusalOf(issue({ preferred_username: value }), byClaim)).toMatchObject(UNAUTHORIZED);
      const both = { sub: value, preferred_username: 'ada' };
      expect(await refusalOf(issue(both), byClaim)).toMatchObject(UNAUTHORIZED);
    });

    test('and refuses names that every object has', async () => {
      for (const userIdClaim of ['constructor', 'toString', '__proto__']) {
        const inherited = createSessionVerifier({ ...provider, userIdClaim });
        expect(await refusalOf(issue(), inherited)).toMatchObject(UNAUTHORIZED);
      }
    });
  });
});

describe('an ID token', () => {
  test.each([[{ typ: 'JWT' }], [{ typ: 'jwt' }], [{ typ: 'application/jwt' }], [{}]])(
    'with the header %j is a session',
    async (header) => {
      expect(await verify(await signIdToken({}, header))).toMatchObject({ userId: 'ada' });
    },
  );

  test.each<readonly [string, Claims]>([
    ['for each of our audiences', { aud: 'portal' }],
    ['whose list of audiences is only ours', { aud: ['client-1'] }],
    ['issued to us, for others too', { aud: ['client-1', 'other'], azp: 'client-1' }],
    ['that names us twice', { aud: 'client-1', azp: 'client-1' }],
    ['that says so (Keycloak)', { typ: 'ID' }],
  ])('%s is a session', async (_, claims) => {
    expect(await verify(await signIdToken(claims))).toMatchObject({ userId: 'ada' });
  });

  test.each<readonly [string, Claims]>([
    ['without a nonce', { nonce: undefined }],
    ['with an empty nonce', { nonce: '' }],
    ['with a nonce that is not text', { nonce: 1 }],
    ['issued to another client', { azp: 'other' }],
    ['issued to another client, for us too', { aud: ['client-1', 'other'], azp: 'other' }],
    ['for us and others, issued to nobody', { aud: ['client-1', 'other'] }],
    ['issued to a list of clients', { azp: ['client-1'] }],
    ['issued to null', { azp: null }],
    ['that is an access token of Keycloak', { typ: 'Bearer', azp: 'client-1' }],
    ['that is a logout token', { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }],
  ])('%s is refused without a reason', async (_, claims) => {
    expect(await refusalOf(signIdToken(claims))).toMatchObject(UNAUTHORIZED);
  });

  test.each(['at+jwt', 'application/at+jwt', 'logout+jwt', 'secevent+jwt', 'service+jwt', 'access+jwt', ''])(
    'with the typ %j is refused without a reason',
    async (typ) => {
      expect(await refusalOf(signIdToken({}, { typ }))).toMatchObject(UNAUTHORIZED);
    },
  );

  test('with a typ that is not text is refused without a reason', async () => {
    const header = { typ: ['JWT'] } as unknown as { typ: string };
    expect(await refusalOf(signIdToken({}, header))).toMatchObject(UNAUTHORIZED);
  });
});
