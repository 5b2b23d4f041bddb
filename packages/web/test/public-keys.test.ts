import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { readPublicKeys } from '../src/pages/console/public-keys.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jwk = publicKey.export({ format: 'jwk' });
const privateJwk = privateKey.export({ format: 'jwk' });
const setOf = (...keys: object[]) => JSON.stringify({ keys });

test('of a key or a set only public members are kept, and no text means no keys', () => {
  const named = { ...jwk, kid: '1' };
  const noted = { ...named, x5u: 'https://app.test', hidden: privateJwk };
  expect(readPublicKeys(JSON.stringify(jwk))).toEqual({ jwks: { keys: [jwk] } });
  expect(readPublicKeys(setOf(noted, jwk))).toEqual({ jwks: { keys: [named, jwk] } });
  expect(readPublicKeys(' \n')).toEqual({ jwks: null });
});

test.each([
  ['a private JWK', JSON.stringify(privateJwk)],
  ['a set with a private key', setOf(jwk, privateJwk)],
  ['a shared secret', setOf({ kty: 'oct', k: 'AAAA' })],
  ['a private key in PEM', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()],
])('%s is refused before it is sent', (_, input) => {
  expect(readPublicKeys(input)).toEqual({ fault: 'keysPrivate' });
});

test.each(['{', '[]', '7', 'null', '{"keys":7}', setOf([]), '{"keys":[null]}', '{"d":1}'])(
  '%s is no public key',
  (input) => {
    expect(readPublicKeys(input)).toEqual({ fault: 'keysUnreadable' });
  },
);
