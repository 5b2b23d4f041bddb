import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { BAD_USER_IDS, GOOD_USER_IDS, LONE_SURROGATE } from '@phds/test-kit/user-ids';
import {
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';
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

const rsa = await generateKeyPair('RS256', { extractable: true });
const rsaJwk = { ...(await exportJWK(rsa.publicKey)), kid: 'k' };
const spki = await exportSPKI(rsa.publicKey);

describe('the signature of a session', () => {
  const CLAIMS = { ...BASE, aud: 'phds', nonce: 'n-1', iat: seconds };

  const verifierOf = (keys: readonly JWK[]) =>
    createSessionVerifier({ ...provider, audience: ['phds'], jwks: JSON.stringify({ keys }) });

  function sign(key: CryptoKey, alg: string, header: Partial<JWTHeaderParameters> = {}): Promise<string> {
    const protectedHeader = { alg, kid: 'k', typ: SESSION_TOKEN_TYPE, ...header };
    return new SignJWT(CLAIMS).setProtectedHeader(protectedHeader).sign(key);
  }

  const encode = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url');

  /** A session that is correct except for its algorithm and signature. */
  function forge(header: object, signatureOf: (input: string) => string): string {
    const input = `${encode({ kid: 'k', typ: SESSION_TOKEN_TYPE, ...header })}.${encode(CLAIMS)}`;
    return `${input}.${signatureOf(input)}`;
  }

  /** Verifies a correct session of an identity provider whose only key signs with this algorithm. */
  async function verifySignedWith(alg: string) {
    const pair = await generateKeyPair(alg);
    const verify = verifierOf([{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg }]);
    return verify(await sign(pair.privateKey, alg));
  }

  test.each(['EdDSA', 'ES256', 'RS256', 'PS256'])('signed with %s is accepted', async (alg) => {
    expect(await verifySignedWith(alg)).toMatchObject({ userId: 'ada' });
  });

  test.each(['ES384', 'RS512', 'PS384'])('signed with %s is refused', async (alg) => {
    await expect(verifySignedWith(alg)).rejects.toMatchObject(UNAUTHORIZED);
  });

  test.each(['none', 'None', 'NONE'])(
    'with the algorithm %s is refused, with and without a signature',
    async (alg) => {
      const verify = verifierOf([rsaJwk]);
      await expect(verify(forge({ alg }, () => ''))).rejects.toMatchObject(UNAUTHORIZED);
      await expect(verify(forge({ alg }, () => 'c2ln'))).rejects.toMatchObject(UNAUTHORIZED);
    },
  );

  test('signed with HS256 and the public key as the secret is refused', async () => {
    const jwt = forge({ alg: 'HS256' }, (input) =>
      createHmac('sha256', spki).update(input).digest('base64url'),
    );
    await expect(verifierOf([rsaJwk])(jwt)).rejects.toMatchObject(UNAUTHORIZED);
    await expect(verifierOf([{ ...rsaJwk, alg: 'RS256' }])(jwt)).rejects.toMatchObject(UNAUTHORIZED);
  });

  test('signed with HS256 and a secret of the key set is refused', async () => {
    const secret = Buffer.alloc(32, 7);
    const jwt = forge({ alg: 'HS256' }, (input) =>
      createHmac('sha256', secret).update(input).digest('base64url'),
    );
    const key = { kty: 'oct', k: secret.toString('base64url'), kid: 'k', alg: 'HS256' };
    await expect(verifierOf([key])(jwt)).rejects.toMatchObject(UNAUTHORIZED);
  });

  test('signed with RS256 is refused if the key is for PS256 only, and the reverse', async () => {
    const pss = await generateKeyPair('PS256', { extractable: true });
    const pssJwk = { ...(await exportJWK(pss.publicKey)), kid: 'k' };
    const signedRs = await sign(rsa.privateKey, 'RS256');
    const signedPs = await sign(pss.privateKey, 'PS256');
    expect(await verifierOf([{ ...rsaJwk, alg: 'RS256' }])(signedRs)).toMatchObject({ userId: 'ada' });
    expect(await verifierOf([{ ...pssJwk, alg: 'PS256' }])(signedPs)).toMatchObject({ userId: 'ada' });
    await expect(verifierOf([{ ...rsaJwk, alg: 'PS256' }])(signedRs)).rejects.toMatchObject(UNAUTHORIZED);
    await expect(verifierOf([{ ...pssJwk, alg: 'RS256' }])(signedPs)).rejects.toMatchObject(UNAUTHORIZED);
  });

  test('signed by a key for encryption is refused', async () => {
    const jwt = await sign(rsa.privateKey, 'RS256');
    await expect(verifierOf([{ ...rsaJwk, use: 'enc' }])(jwt)).rejects.toMatchObject(UNAUTHORIZED);
  });

  test('signed by a foreign key is refused, also if the session brings that key along', async () => {
    const foreign = await generateKeyPair('RS256', { extractable: true });
    const jwk = await exportJWK(foreign.publicKey);
    const verify = verifierOf([rsaJwk]);
    for (const header of [{}, { jwk }, { jku: 'https://evil.example/keys' }, { kid: 'unknown' }]) {
      const jwt = await sign(foreign.privateKey, 'RS256', header);
      await expect(verify(jwt)).rejects.toMatchObject(UNAUTHORIZED);
    }
  });

  test('with critical header fields that nobody here knows is refused', async () => {
    const jwt = forge({ alg: 'RS256', crit: ['exp'], exp: 1 }, () => 'c2ln');
    await expect(verifierOf([rsaJwk])(jwt)).rejects.toMatchObject(UNAUTHORIZED);
  });

  test.each([
    ['of megabytes', 'a'.repeat(1_000_000)],
    ['that is empty', ''],
    ['that is no JWT', 'garbage'],
    ['of two parts', forge({ alg: 'none' }, () => '').slice(0, -1)],
    ['that is encrypted', 'eyJhbGciOiJkaXIifQ....'],
  ])('%s is refused', async (_, jwt) => {
    await expect(verifierOf([rsaJwk])(jwt)).rejects.toMatchObject(UNAUTHORIZED);
  });

  test('changed after it was signed is refused', async () => {
    const [header, , signature] = (await sign(rsa.privateKey, 'RS256')).split('.');
    const jwt = `${header}.${encode({ ...CLAIMS, sub: 'bob' })}.${signature}`;
    await expect(verifierOf([rsaJwk])(jwt)).rejects.toMatchObject(UNAUTHORIZED);
  });
});
