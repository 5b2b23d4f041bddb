import { createPrivateKey } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import { FakeClock } from '@phds/test-kit/fake-clock';
import { createServiceKeys, type ServiceKeys } from '@phds/test-kit/service-keys';
import { SignJWT } from 'jose';
import {
  AUDITORS,
  CONSENT_ENDERS,
  CONSENT_READERS,
  createServiceTokenSource,
  createServiceTokenVerifier,
  explainRefusal,
  INGESTERS,
  isAdmitted,
  OPERATORS,
  parseRoles,
  RECORD_WRITERS,
  SERVICE_ROLES,
  SUPPORTERS,
  TOKEN_INTROSPECTORS,
  VIEWERS,
} from '../src/trust/callers.ts';

const keySet = (...keys: readonly object[]) => JSON.stringify({ keys });

describe('the roles of operators', () => {
  test.each([
    ['viewer', [true, false, false, false]],
    ['support', [true, true, false, false]],
    ['operator', [true, true, true, false]],
    ['auditor', [true, false, false, true]],
  ])('%s is admitted as the table says: viewers, supporters, operators, auditors', (role, expected) => {
    const rolesOf = parseRoles(keySet({ kid: 'gateway' }, { kid: 'operator:on-call', roles: [role] }));
    const admits = [VIEWERS, SUPPORTERS, OPERATORS, AUDITORS].map((admitted) =>
      isAdmitted(admitted, 'operator:on-call', rolesOf),
    );
    expect(admits).toEqual(expected);
    expect(isAdmitted(VIEWERS, 'gateway', rolesOf)).toBe(false);
  });

  test('a service is admitted by its name, and no operator has the name of a service', () => {
    const rolesOf = parseRoles(keySet({ kid: 'operator:gateway', roles: ['operator'] }));
    expect(isAdmitted(['gateway'], 'gateway', rolesOf)).toBe(true);
    expect(isAdmitted(['gateway'], 'operator:gateway', rolesOf)).toBe(false);
  });

  test.each([
    [[{ kid: 'operator:On Call', roles: ['viewer'] }], '"operator:On Call" is not operator: and a name'],
    [[{ kid: 'operator:a' }], '"roles" of the key of "operator:a" must list some of viewer'],
    [[{ kid: 'operator:a', roles: ['viewer', 'admin'] }], '"roles" of the key of "operator:a" must list'],
    [
      [
        { kid: 'operator:a', roles: ['viewer'] },
        { kid: 'operator:a', roles: ['operator'] },
      ],
      'keys of "operator:a" have different roles',
    ],
    [[{ kid: 'service:Billing', roles: ['ingest'] }], '"service:Billing" is not service: and a name'],
    [
      [{ kid: 'service:billing' }],
      '"roles" of the key of "service:billing" must list some of token-introspection',
    ],
    [
      [{ kid: 'operator:a', roles: ['ingest'] }],
      '"roles" of the key of "operator:a" must list some of viewer',
    ],
    [[{ kid: 'role:operator' }], '"role:operator" is not the name of a caller'],
  ])('are refused in %j', (keys, message) => {
    expect(() => parseRoles(keySet(...keys))).toThrow(message);
  });
});

describe('the roles of services', () => {
  test.each(SERVICE_ROLES)('%s admits to its own rpcs only', (role) => {
    const rolesOf = parseRoles(keySet({ kid: 'service:billing', roles: [role] }));
    const all = [TOKEN_INTROSPECTORS, CONSENT_READERS, CONSENT_ENDERS, RECORD_WRITERS, INGESTERS];
    const admits = all.map((admitted) => isAdmitted(admitted, 'service:billing', rolesOf));
    expect(admits).toEqual(SERVICE_ROLES.map((other) => other === role));
    expect(isAdmitted(OPERATORS, 'service:billing', rolesOf)).toBe(false);
    expect(isAdmitted(['billing'], 'service:billing', rolesOf)).toBe(false);
  });

  test.each([
    ['service:billing', CONSENT_READERS, 'billing may not call ListGrants; it needs consent-reader'],
    ['service:billing', ['gateway'], 'billing may not call ListGrants; only gateway may'],
    ['service:billing', OPERATORS, 'billing may not call ListGrants; only the role operator may'],
    ['operator:ada', SUPPORTERS, 'ada may not call ListGrants; it needs support or operator'],
    [
      'gateway',
      ['authorization', ...INGESTERS],
      'gateway may not call ListGrants; only authorization or the role ingest may',
    ],
  ])('%s reads why it is refused where %j is admitted', (caller, admitted, message) => {
    expect(explainRefusal('ListGrants', admitted, caller)).toBe(message);
  });
});

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
