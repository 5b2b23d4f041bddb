import { describe, expect, test } from '@jest/globals';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { readProof } from '../src/trust/dpop.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const URL_OF_REQUEST = 'https://phds.example/api/v1/profile';
const SUBJECT = { method: 'GET', url: URL_OF_REQUEST, accessToken: 'phds_at_1', now: NOW };
const key = await createProofKey();
const other = await createProofKey();

const faultOf = (text: string, subject = SUBJECT) => {
  const read = readProof(text, subject);
  return 'fault' in read ? read.fault : null;
};
const read = (text: string) => {
  const proof = readProof(text, SUBJECT);
  if ('fault' in proof) throw new Error(proof.fault);
  return proof;
};
const withClaims = (claims: object) => key.prove(SUBJECT, { claims });
const withHeader = (header: object) => key.prove(SUBJECT, { header });
const second = (offset: number) => NOW.getTime() / 1000 + offset;

describe('an accepted proof', () => {
  test.each(['ES256', 'EdDSA', 'Ed25519', 'PS256'])('is signed with %s', async (alg) => {
    const signer = await createProofKey(alg);
    const proof = read(await signer.prove(SUBJECT));
    expect(proof.jkt).toBe(signer.jkt);
    expect(proof.isSigned()).toBe(true);
  });

  test.each([
    ['host in capitals', 'https://PHDS.example/api/v1/profile'],
    ['the default port', 'https://phds.example:443/api/v1/profile'],
    ['a query and a fragment', 'https://phds.example/api/v1/profile?a=b#c'],
    ['letters as octets', 'https://phds.example/api/v1/pr%6Ff%69le'],
  ])('names the URL with %s', async (_what, htu) => {
    expect(read(await withClaims({ htu })).isSigned()).toBe(true);
  });

  test.each([
    ['/api/v1/%70rofile', '/api/v1/profile'],
    ['/api/v1/a%2fb', '/api/v1/a%2Fb'],
  ])('is for a request whose URL has octets: %s', async (path, htu) => {
    const subject = { ...SUBJECT, url: `https://phds.example${path}` };
    const text = await key.prove(subject, { claims: { htu: `https://phds.example${htu}` } });
    expect(faultOf(text, subject)).toBeNull();
  });

  test.each([-60, 0, 30])('is made %i s from now', async (offset) => {
    expect(read(await withClaims({ iat: second(offset) })).isSigned()).toBe(true);
  });

  test('has an id of its key and jti', async () => {
    const [one, again, another, foreign] = [
      read(await withClaims({ jti: 'a' })),
      read(await withClaims({ jti: 'a', iat: second(-1) })),
      read(await withClaims({ jti: 'b' })),
      read(await other.prove(SUBJECT, { claims: { jti: 'a' } })),
    ];
    expect(again.id).toEqual(one.id);
    expect(another.id).not.toEqual(one.id);
    expect(foreign.id).not.toEqual(one.id);
  });
});

test('the signature of another key is none, also after a right proof', async () => {
  const forge = () => withHeader({ jwk: other.publicJwk });
  expect(read(await forge()).isSigned()).toBe(false);
  expect(read(await other.prove(SUBJECT)).isSigned()).toBe(true);
  expect(read(await forge()).isSigned()).toBe(false);
});

describe('refuses a proof', () => {
  test.each<[string, object]>([
    ['without jti', { jti: undefined }],
    ['with an empty jti', { jti: '' }],
    ['with a long jti', { jti: 'x'.repeat(257) }],
    ['with a jti of 10 kB', { jti: 'x'.repeat(10_000) }],
    ['of another method', { htm: 'POST' }],
    ['of the method in lower case', { htm: 'get' }],
    ['without htu', { htu: undefined }],
    ['of another host', { htu: 'https://other.example/api/v1/profile' }],
    ['of another path', { htu: 'https://phds.example/api/v1/mood' }],
    ['with an octet that is not the same as its character', { htu: 'https://phds.example/api%2Fv1/profile' }],
    ['of another scheme', { htu: 'http://phds.example/api/v1/profile' }],
    ['from 61 s ago', { iat: second(-61) }],
    ['from 31 s ahead', { iat: second(31) }],
    ['without iat', { iat: undefined }],
    ['with iat as a text', { iat: String(second(0)) }],
    ['without ath', { ath: undefined }],
    ['of another token', { ath: 'B'.repeat(43) }],
  ])('%s', async (_what, claims) => {
    expect(faultOf(await withClaims(claims))).not.toBeNull();
  });

  test.each<[string, object]>([
    ['of type JWT', { typ: 'JWT' }],
    ['without a key', { jwk: undefined }],
    ['with the private key', { jwk: key.privateJwk }],
    ['with crit', { crit: ['b64'], b64: true }],
  ])('%s', async (_what, header) => {
    expect(faultOf(await withHeader(header))).not.toBeNull();
  });

  test.each(['ES384', 'RS256'])('signed with %s', async (alg) => {
    const signer = await createProofKey(alg);
    expect(faultOf(await signer.prove(SUBJECT))).not.toBeNull();
  });

  test('with a short RSA key', () => {
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const jwk = { kty: 'RSA', e: 'AQAB', n: 'u'.repeat(171) };
    const head = encode({ alg: 'PS256', typ: 'dpop+jwt', jwk });
    const claims = { jti: 'a', htm: 'GET', htu: URL_OF_REQUEST, iat: second(0) };
    expect(faultOf(`${head}.${encode(claims)}.AA`)).toContain('2048');
  });

  test('of algorithm none or a shared key', async () => {
    const [, body] = (await key.prove(SUBJECT)).split('.');
    for (const alg of ['none', 'HS256']) {
      const header = { alg, typ: 'dpop+jwt', jwk: key.publicJwk };
      const head = Buffer.from(JSON.stringify(header)).toString('base64url');
      expect(faultOf(`${head}.${body}.AA`)).toContain('alg');
      expect(faultOf(`${head}.${body}.`)).not.toBeNull();
    }
  });

  test('that is no JWT', () => {
    for (const text of ['', 'a', '..', 'a.b.c', '.'.repeat(5_000), `${'a'.repeat(3_000)}.b.c`]) {
      expect(faultOf(text)).not.toBeNull();
    }
  });
});
