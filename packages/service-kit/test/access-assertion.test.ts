import { expect, test } from '@jest/globals';
import { createServiceKeys } from '@phds/test-kit/service-keys';
import {
  type AccessAssertion,
  createAssertionSigner,
  createAssertionVerifier,
} from '../src/trust/access-assertion.ts';

const createKeys = () => createServiceKeys(['authorization']);
const keys = createKeys();
const assertion: AccessAssertion = {
  clientId: 'app_1',
  userId: 'ada',
  grantId: 'grt_1',
  familyId: 'fam_1',
  scopes: ['read:mood', 'read:weight'],
  tokenHash: 'AAAA',
  tokenExpiresAt: 1_800_000_000,
  dataFrom: '2026-01-01',
  sub: 'sub_1',
  jkt: 'A'.repeat(43),
};

function setUp() {
  let now = new Date('2026-01-02T03:04:05Z');
  const clock = { now: () => now };
  return {
    sign: createAssertionSigner({ privateKeyPem: keys.pem('authorization'), clock }),
    verify: createAssertionVerifier({ publicKeys: keys.jwks, clock }),
    advance: (ms: number) => {
      now = new Date(now.getTime() + ms);
    },
  };
}

test('an assertion is unchanged after the hop, with and without a data window and a key', async () => {
  const { sign, verify } = setUp();
  expect(await verify(await sign(assertion))).toEqual(assertion);
  const unbounded = { ...assertion, dataFrom: null, jkt: null };
  expect(await verify(await sign(unbounded))).toEqual(unbounded);
});

test.each([false, true])('an assertion is stale after 60 seconds (cached before: %s)', async (remembered) => {
  const { sign, verify, advance } = setUp();
  const jwt = await sign(assertion);
  if (remembered) await verify(jwt);
  advance(59_000);
  expect(await verify(jwt)).toEqual(assertion);
  advance(1_000);
  await expect(async () => verify(jwt)).rejects.toMatchObject({ reason: 'assertion_stale' });
});

test('an assertion with a single changed character is an internal error', async () => {
  const { sign, verify } = setUp();
  const jwt = await sign(assertion);
  const [header, payload = '', signature] = jwt.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object;
  const forged = Buffer.from(JSON.stringify({ ...claims, sub: 'grace' })).toString('base64url');
  await expect(async () => verify(`${header}.${forged}.${signature}`)).rejects.toMatchObject({
    reason: 'internal',
  });
});

test('with the signature of an unknown key, or an unknown `kid`, it is a fault of ours', async () => {
  const { sign, verify } = setUp();
  const other = createKeys().pem('authorization');
  const jwt = await createAssertionSigner({ privateKeyPem: other })(assertion);
  await expect(async () => verify(jwt)).rejects.toMatchObject({ reason: 'internal' });
  const [, payload, signature] = (await sign(assertion)).split('.');
  const header = { alg: 'EdDSA', typ: 'access-assertion+jwt', kid: 'nobody' };
  const renamed = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}.${signature}`;
  await expect(async () => verify(renamed)).rejects.toMatchObject({ reason: 'internal' });
});
