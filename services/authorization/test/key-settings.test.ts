import { generateKeyPairSync, type JsonWebKeyInput } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { AppSettings } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { REDIRECT_URI, reasonOf, refusalOf, shareHarness } from './harness.ts';

const harness = await shareHarness();
type Settings = Partial<Omit<AppSettings, '$typeName'>>;
type Jwk = JsonWebKeyInput['key'];

const { publicJwk: ec, privateJwk } = await createProofKey();
const { publicJwk: edwards } = await createProofKey('Ed25519');
const { publicJwk: rsa } = await createProofKey('PS256');
const setOf = (...keys: object[]) => JSON.stringify({ keys });
const KEYS = { jwks: setOf(ec) };
const BY_KEY = { ...KEYS, tokenEndpointAuthMethod: 'private_key_jwt' };

let clientId: string;
let clientSecret: string;

async function register(settings: Settings) {
  const defaults = { name: 'App', redirectUris: [REDIRECT_URI] };
  return harness.apps.registerApp({ settings: { ...defaults, ...settings } }, await harness.as('dev'));
}
const update = (settings: Settings) => harness.updateApp(clientId, settings);
const rotate = async () => harness.apps.rotateSecret({ clientId }, await harness.as('dev'));
const isAdmitted = (secret: string) =>
  harness.authorizations.authenticateClient({ client: { clientId, clientSecret: secret } }).then(
    () => true,
    () => false,
  );

beforeEach(async () => {
  const registered = await register({});
  clientId = registered.app?.clientId ?? '';
  clientSecret = registered.clientSecret;
});

test('of keys only what is public and needed is stored', async () => {
  const named = { ...ec, kid: '1', use: 'sig', key_ops: ['verify'], x5u: 'https://app.test/x', note: 'mine' };
  const sent = [named, { ...edwards, kid: '2', alg: 'EdDSA' }, { ...rsa, kid: '3', alg: 'PS256' }];
  const stored = JSON.parse((await update({ jwks: setOf(...sent) }))?.jwks ?? '');
  const { kty, crv, x, y } = ec;
  expect(stored.keys).toEqual([{ kty, crv, x, y, kid: '1' }, sent[1], sent[2]]);
  expect((await update({ jwks: '' }))?.jwks).toBe('');
});

const exported = (type: 'rsa' | 'ec' | 'x25519', options: object): Jwk =>
  generateKeyPairSync(type as 'rsa', options as { modulusLength: number }).publicKey.export({
    format: 'jwk',
  });
const many = Array.from({ length: 6 }, (_, index) => ({ ...ec, kid: String(index) }));

test.each<[string, string, RegExp]>([
  ['no JSON', '{', /object with a list `keys`/],
  ['a list', '[]', /object with a list `keys`/],
  ['no key', setOf(), /1 to 5 keys/],
  ['six keys', setOf(...many), /1 to 5 keys/],
  ['17 kB', setOf({ ...ec, note: 'x'.repeat(17_000) }), /at most 16384 characters/],
  ['a private key', setOf(privateJwk), /key 1 has a private member/],
  ['a shared secret', setOf({ kty: 'oct', k: 'AAAA' }), /key 1 has a private member/],
  ['P-521', setOf(exported('ec', { namedCurve: 'P-521' })), /key 1 must be EC with P-256/],
  ['X25519', setOf(exported('x25519', {})), /key 1 must be EC with P-256/],
  ['RSA with 1024 bits', setOf(exported('rsa', { modulusLength: 1_024 })), /2048 to 4096 bits/],
  ['RSA with the exponent 3', setOf({ ...rsa, e: 'Aw' }), /exponent/],
  ['base64 in place of base64url', setOf({ ...rsa, n: `${rsa.n}=` }), /key 1 is not a valid key/],
  ['a point that is not on the curve', setOf({ ...ec, y: ec.x }), /key 1 is not a valid key/],
  ['a key for encryption', setOf({ ...ec, use: 'enc' }), /for signatures/],
  ['an algorithm of another key', setOf({ ...ec, alg: 'PS256' }), /fits the key: ES256/],
  ['two keys without a kid', setOf(ec, edwards), /`kid` of its own/],
  ['two keys with one kid', setOf({ ...ec, kid: '1' }, { ...edwards, kid: '1' }), /`kid` of its own/],
  ['a long kid', setOf({ ...ec, kid: 'x'.repeat(129) }), /`kid` of 1 to 128/],
])('refuses %s as keys', async (_what, jwks, message) => {
  const refusal = await refusalOf(update({ jwks }));
  expect(refusal).toMatchObject({
    reason: 'invalid_request',
    violations: [{ parameter: 'jwks', message: expect.stringMatching(message) }],
  });
});

describe('an app with private_key_jwt', () => {
  test('loses its secret at once, and gets one only after it has left the method', async () => {
    await update(KEYS);
    expect(await isAdmitted(clientSecret)).toBe(true);
    expect(await update(BY_KEY)).toMatchObject({ secretLast4: '' });
    const refusal = await refusalOf(rotate());
    expect(refusal).toMatchObject({
      reason: 'conflict',
      message: expect.stringContaining('client_secret_basic'),
    });
    await update({ tokenEndpointAuthMethod: 'client_secret_basic' });
    expect(await isAdmitted(clientSecret)).toBe(false);
    const { clientSecret: next } = await rotate();
    expect(await isAdmitted(next)).toBe(true);
    expect((await update({ jwks: '' }))?.jwks).toBe('');
  });

  test('needs keys, whichever change would leave it without', async () => {
    const [{ parameter, message } = {}] = (
      await refusalOf(update({ tokenEndpointAuthMethod: 'private_key_jwt' }))
    ).violations;
    expect([parameter, message]).toEqual(['jwks', 'is required for private_key_jwt']);
    await update(BY_KEY);
    const refusal = await refusalOf(update({ jwks: '' }));
    expect(refusal.violations).toEqual([
      { parameter: 'jwks', message: 'must not be cleared with private_key_jwt' },
    ]);
    expect(await reasonOf(update({ tokenEndpointAuthMethod: 'none' }))).toBe('invalid_request');
  });

  test('keeps its keys when two changes meet that contradict each other', async () => {
    await update(KEYS);
    await Promise.allSettled([update({ tokenEndpointAuthMethod: 'private_key_jwt' }), update({ jwks: '' })]);
    const app = await harness.readApp(clientId);
    expect([app?.tokenEndpointAuthMethod, app?.jwks !== '']).not.toEqual(['private_key_jwt', false]);
  });
});
