import { createHmac } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import {
  type CryptoKey,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from 'jose';
import { createSessionVerifier, SESSION_TOKEN_TYPE } from '../src/trust/session.ts';

const now = new Date('2026-01-02T03:04:05Z');
const seconds = now.getTime() / 1000;
const UNAUTHORIZED = { reason: 'unauthorized', message: '' };
const CLAIMS = {
  iss: 'https://idp.example',
  aud: 'phds',
  sub: 'ada',
  nonce: 'n-1',
  iat: seconds,
  exp: seconds + 60,
};

const verifierOf = (keys: readonly JWK[]) =>
  createSessionVerifier({
    issuer: 'https://idp.example',
    audience: ['phds'],
    jwks: JSON.stringify({ keys }),
    clock: { now: () => now },
  });

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

const rsa = await generateKeyPair('RS256', { extractable: true });
const rsaJwk = { ...(await exportJWK(rsa.publicKey)), kid: 'k' };
const spki = await exportSPKI(rsa.publicKey);

/** Verifies a correct session of an identity provider whose only key signs with this algorithm. */
async function verifySignedWith(alg: string) {
  const pair = await generateKeyPair(alg);
  const verify = verifierOf([{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg }]);
  return verify(await sign(pair.privateKey, alg));
}

describe('a session', () => {
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
