import { createServer } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import type { AppError } from '@phds/service-kit/errors';
import { createSessionVerifier, SESSION_TOKEN_TYPE } from '@phds/service-kit/session';
import { listenOnLoopback } from '@phds/test-kit/loopback';
import { BAD_USER_IDS, GOOD_USER_IDS, LONE_SURROGATE } from '@phds/test-kit/user-ids';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';

const pair = await generateKeyPair('EdDSA');
const foreign = await generateKeyPair('EdDSA');
const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k', alg: 'EdDSA' }] });
const now = new Date('2026-01-02T03:04:05Z');
const clock = { now: () => now };
const verify = createSessionVerifier({ issuer: 'https://idp.example', audience: 'phds', jwks, clock });

function sign(
  claims: Readonly<Record<string, unknown>> = {},
  { typ = SESSION_TOKEN_TYPE, key = pair.privateKey } = {},
): Promise<string> {
  const seconds = Math.floor(now.getTime() / 1000);
  const payload = { iss: 'https://idp.example', aud: 'phds', sub: 'ada', exp: seconds + 60, ...claims };
  return new SignJWT(payload).setProtectedHeader({ alg: 'EdDSA', kid: 'k', typ }).sign(key);
}

const seconds = Math.floor(now.getTime() / 1000);

/** Verifies a correct session of an identity provider whose only key signs with this algorithm. */
async function verifySignedWith(alg: string) {
  const { privateKey, publicKey } = await generateKeyPair(alg);
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k', alg }];
  const claims = { iss: 'https://idp.example', aud: 'phds', sub: 'ada', exp: seconds + 60 };
  const header = { alg, kid: 'k', typ: SESSION_TOKEN_TYPE };
  const session = await new SignJWT(claims).setProtectedHeader(header).sign(privateKey);
  const provider = { issuer: 'https://idp.example', audience: 'phds', jwks: JSON.stringify({ keys }), clock };
  return createSessionVerifier(provider)(session);
}

describe('a session', () => {
  test('yields its user and its expiry', async () => {
    expect(await verify(await sign())).toEqual({ userId: 'ada', expiresAt: new Date((seconds + 60) * 1000) });
  });

  test.each(['EdDSA', 'ES256', 'RS256', 'PS256'])('signed with %s is accepted', async (alg) => {
    expect(await verifySignedWith(alg)).toMatchObject({ userId: 'ada' });
  });

  test.each(['ES384', 'RS512', 'PS384'])('signed with %s is refused', async (alg) => {
    await expect(verifySignedWith(alg)).rejects.toMatchObject({ reason: 'unauthorized', message: '' });
  });

  test.each<[string, () => Promise<string>]>([
    ['expired', () => sign({ exp: seconds })],
    ['not yet valid', () => sign({ nbf: seconds + 60 })],
    ['of another issuer', () => sign({ iss: 'https://evil.example' })],
    ['for another audience', () => sign({ aud: 'other' })],
    ['without a subject', () => sign({ sub: undefined })],
    ['of another type', () => sign({}, { typ: 'at+jwt' })],
    ['signed by another key', () => sign({}, { key: foreign.privateKey })],
    ['of megabytes', async () => 'a'.repeat(1_000_000)],
    ['garbage', async () => 'garbage'],
    ['unsigned', async () => `${Buffer.from('{"alg":"none"}').toString('base64url')}.e30.`],
  ])('%s is refused without a reason', async (_, make) => {
    const error = await verify(await make()).catch((reason: unknown) => reason as AppError);
    expect(error).toMatchObject({ reason: 'unauthorized', message: '' });
  });

  test.each(GOOD_USER_IDS)('whose subject is a user id %s is accepted', async (_, userId) => {
    expect(await verify(await sign({ sub: userId }))).toMatchObject({ userId });
  });

  test.each<readonly [string, unknown]>([
    ...BAD_USER_IDS,
    ['with a lone surrogate', LONE_SURROGATE],
    ['that is a number', 42],
    ['that is a truth value', true],
    ['that is null', null],
    ['that is a list', ['ada']],
    ['that is an object', { length: 3 }],
  ])('whose subject is a user id %s is refused without a reason', async (_, sub) => {
    const error = await verify(await sign({ sub })).catch((reason: unknown) => reason as AppError);
    expect(error).toMatchObject({ reason: 'unauthorized', message: '' });
  });

  test('cannot be verified while the keys are unreachable, and can be once they are back', async () => {
    let up = false;
    const server = createServer((_, response) => {
      if (up) response.setHeader('content-type', 'application/json').end(jwks);
      else response.writeHead(500).end();
    });
    const url = `http://127.0.0.1:${await listenOnLoopback(server)}/jwks.json`;
    const remote = createSessionVerifier({
      issuer: 'https://idp.example',
      audience: 'phds',
      jwks: url,
      clock,
    });
    await expect(remote(await sign())).rejects.toMatchObject({ reason: 'unavailable' });
    up = true;
    await expect(remote(await sign())).resolves.toMatchObject({ userId: 'ada' });
    server.close();
    server.closeAllConnections();
  });
});
