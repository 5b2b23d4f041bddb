import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { createServiceTokenSource, createServiceTokenVerifier } from '../src/trust/service-token.ts';

function newKey(kid: string) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return {
    privateKeyPem: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    jwk: { ...publicKey.export({ format: 'jwk' }), kid, alg: 'EdDSA' },
  };
}

const [old, next, stranger] = [newKey('gateway'), newKey('gateway'), newKey('gateway')];
const consent = newKey('consent');

const sign = ({ privateKeyPem }: { privateKeyPem: string }) =>
  createServiceTokenSource({ service: 'gateway', privateKeyPem })('health-data');

const verifier = (...keys: { jwk: object }[]) =>
  createServiceTokenVerifier({
    service: 'health-data',
    publicKeys: JSON.stringify({ keys: keys.map(({ jwk }) => jwk) }),
  });

test.each([
  ['old', old],
  ['new', next],
])('during a rotation the %s key is accepted', async (_which, key) => {
  await expect(verifier(old, consent, next)(await sign(key))).resolves.toBe('gateway');
});

test('a third key is refused although two keys share the name', async () => {
  await expect(verifier(old, next)(await sign(stranger))).rejects.toMatchObject({
    reason: 'caller_not_admitted',
  });
});

test('the old key is refused once it is removed from the set', async () => {
  await expect(verifier(next)(await sign(old))).rejects.toMatchObject({ reason: 'caller_not_admitted' });
});
