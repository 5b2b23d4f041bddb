import { createPrivateKey } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createServiceKeys, type ServiceKeys } from '@phds/test-kit/service-keys';
import { SignJWT } from 'jose';
import { createServiceTokenSource, createServiceTokenVerifier } from '../src/trust/callers.ts';

const keys = createServiceKeys(['gateway']);
const clock = new FakeClock();
const verify = createServiceTokenVerifier({ service: 'consent', publicKeys: keys.jwks, clock });
const start = clock.now();
beforeEach(() => clock.set(start));

const now = () => Math.floor(clock.now().getTime() / 1000);

/** Signs a token with the gateway's own key and any times. */
function sign(times: { iat: number; exp: number }): Promise<string> {
  return new SignJWT({ iss: 'gateway', sub: 'gateway', aud: 'consent', ...times })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'service+jwt', kid: 'gateway' })
    .sign(createPrivateKey(keys.pem('gateway')));
}

test('a service token is admitted until it expires', async () => {
  const token = await createServiceTokenSource({
    service: 'gateway',
    privateKeyPem: keys.pem('gateway'),
    clock,
  })('consent');
  await expect(verify(token)).resolves.toBe('gateway');
  clock.advance(299_000);
  await expect(verify(token)).resolves.toBe('gateway');
  clock.advance(10_000);
  await expect(verify(token)).rejects.toMatchObject({ reason: 'caller_not_admitted' });
});

test('a caller whose clock was an hour ahead is admitted again once its clock is right', async () => {
  const callers = new FakeClock(new Date(start.getTime() + 3_600_000));
  const source = createServiceTokenSource({
    service: 'gateway',
    privateKeyPem: keys.pem('gateway'),
    clock: callers,
  });
  await expect(verify(await source('consent'))).rejects.toMatchObject({ reason: 'caller_not_admitted' });
  callers.set(start);
  await expect(verify(await source('consent'))).resolves.toBe('gateway');
});

test.each([
  ['of five minutes', 0, 300],
  ['of a minute', 0, 60],
  ['of a clock that is a minute ahead', 60, 360],
])('a service token %s is admitted', async (_, iat, exp) => {
  await expect(verify(await sign({ iat: now() + iat, exp: now() + exp }))).resolves.toBe('gateway');
});

describe('a refusal says what is wrong', () => {
  const valid = { iss: 'gateway', sub: 'gateway', aud: 'consent', iat: now(), exp: now() + 300 };
  const HEADER = { alg: 'EdDSA', typ: 'service+jwt', kid: 'gateway' };
  const other = createServiceKeys(['gateway']);

  test.each<[string, object, object, ServiceKeys, string]>([
    [
      'an unknown name',
      { iss: 'billing', sub: 'billing' },
      { kid: 'billing' },
      keys,
      'no key of this "kid" is known here',
    ],
    ['another key', {}, {}, other, 'signature verification failed'],
    ['another audience', { aud: 'health-data' }, {}, keys, '"aud" must be "consent"'],
    ['another type', {}, { typ: 'JWT' }, keys, 'unexpected "typ" JWT header value'],
    [
      'a name that is not the key’s',
      { iss: 'billing' },
      {},
      keys,
      '"kid", "iss" and "sub" must be the same name',
    ],
    ['no subject', { sub: undefined }, {}, keys, 'missing required "sub" claim'],
    ['no time of issue', { iat: undefined }, {}, keys, 'missing required "iat" claim'],
    ['no end', { exp: undefined }, {}, keys, 'missing required "exp" claim'],
    ['a time of issue as a text', { iat: String(now()) }, {}, keys, '"iat" claim must be a number'],
    ['an end as a text', { exp: String(now() + 300) }, {}, keys, '"exp" claim must be a number'],
    [
      'an end in the past',
      { iat: now() - 400, exp: now() - 100 },
      {},
      keys,
      '"exp" claim timestamp check failed',
    ],
    ['a long life', { exp: now() + 301 }, {}, keys, 'lives longer than 300 seconds'],
    ['a long life, issued long ago', { iat: now() - 301 }, {}, keys, 'lives longer than 300 seconds'],
    ['a clock that is more than a minute ahead', { iat: now() + 61 }, {}, keys, '"iat" is in the future'],
  ])('%s', async (_, claims, header, signer, reason) => {
    const token = await new SignJWT({ ...valid, ...claims })
      .setProtectedHeader({ ...HEADER, ...header })
      .sign(createPrivateKey(signer.pem('gateway')));
    await expect(verify(token)).rejects.toMatchObject({
      reason: 'caller_not_admitted',
      message: `service token refused: ${reason}`,
    });
  });
});

describe('a rotation of keys', () => {
  const newKeys = (name = 'gateway') => createServiceKeys([name]);
  const [old, next, stranger, consent] = [newKeys(), newKeys(), newKeys(), newKeys('consent')];

  const sign = (by: ServiceKeys) =>
    createServiceTokenSource({ service: 'gateway', privateKeyPem: by.pem('gateway') })('health-data');

  const verifier = (...sets: ServiceKeys[]) => {
    const all = sets.flatMap(({ jwks }) => JSON.parse(jwks).keys);
    return createServiceTokenVerifier({ service: 'health-data', publicKeys: JSON.stringify({ keys: all }) });
  };

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
});
