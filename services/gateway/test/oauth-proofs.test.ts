import { beforeEach, describe, expect, test } from '@jest/globals';
import { createProofKey } from '@phds/test-kit/dpop-proofs';
import { ask, shareTestGateway } from './test-gateway.ts';

const PUBLIC_URL = 'https://phds.example';
const gateway = shareTestGateway({ PUBLIC_URL });
const key = await createProofKey();

const proofFor = (path: string, changes = {}) =>
  key.prove({ method: 'POST', url: PUBLIC_URL + path, now: gateway.clock.now() }, changes);

const post = (path: string, headers: Record<string, string>, parameters: Record<string, string>) =>
  ask(gateway, path, { method: 'POST', headers, body: new URLSearchParams(parameters) });

const CLIENT = { client_id: 'app_1', client_secret: 's' };
const TOKENS = { ...CLIENT, grant_type: 'client_credentials' };
const REQUEST = { ...CLIENT, redirect_uri: 'https://app.test/', scope: 'read:profile' };

beforeEach(() =>
  gateway.backends.answer({
    issueToken: () => ({ accessToken: 'a', expiresInSeconds: 60, scope: 's', dpopBound: true }),
    openAuthorization: () => ({ pendingId: 'apr_1', requestUri: 'urn:1', expiresInSeconds: 300 }),
  }),
);

test.each([
  ['/oauth/token', TOKENS, 'issueToken'],
  ['/oauth/par', REQUEST, 'openAuthorization'],
  ['/oauth/authorize', REQUEST, 'openAuthorization'],
] as const)('a proof at %s goes to authorization as it is', async (path, parameters, rpc) => {
  const dpop = await proofFor(path);
  const { body } = await post(path, { dpop, 'x-forwarded-host': 'other.example' }, parameters);
  expect(gateway.backends.callsOf(rpc)[0]?.request).toMatchObject({ dpop });
  if (rpc === 'issueToken') expect(body.token_type).toBe('DPoP');
});

describe('a request is refused before anything is looked up', () => {
  test.each<[string, () => Promise<string>]>([
    ['that is none', async () => 'x'],
    ['for another endpoint', () => proofFor('/oauth/par')],
    [
      'for the address that Host names',
      () => proofFor('/oauth/token', { claims: { htu: `${gateway.url}/oauth/token` } }),
    ],
    ['of the future', () => proofFor('/oauth/token', { claims: { iat: 99_999_999_999 } })],
  ])('with a proof %s', async (_what, make) => {
    const { status, body } = await post('/oauth/token', { dpop: await make() }, TOKENS);
    expect([status, body.error, body.code]).toEqual([400, 'invalid_dpop_proof', 'INVALID_DPOP_PROOF']);
    expect(gateway.backends.calls).toEqual([]);
  });

  test('with two proofs', async () => {
    const two = `${await proofFor('/oauth/token')}, ${await proofFor('/oauth/token')}`;
    const { body } = await post('/oauth/token', { dpop: two }, TOKENS);
    expect(body.error).toBe('invalid_dpop_proof');
    expect(gateway.backends.calls).toEqual([]);
  });
});
