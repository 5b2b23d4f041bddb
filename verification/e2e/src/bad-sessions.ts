import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { findThumbprint } from '@phds/local-stack/key-files';
import type { Stack } from '@phds/local-stack/stack';
import { SignJWT } from 'jose';

const HOUR = 3_600;
const LOGOUT = { events: { 'http://schemas.openid.net/event/backchannel-logout': {} } };

/** Session JWTs that must be refused, by their defect. Signed with the right key unless the name says otherwise. */
export async function makeBadSessions(
  stack: Pick<Stack, 'identityProviderUrl' | 'keys'>,
  userId: string,
): Promise<Readonly<Record<string, string>>> {
  const pem = await readFile(stack.keys.identityProviderPrivateKey, 'utf8');
  const key = createPrivateKey(pem);
  const strangers = generateKeyPairSync('ed25519').privateKey;
  const now = Math.floor(Date.now() / 1000);
  const right = { iss: stack.identityProviderUrl, aud: 'phds', sub: userId, iat: now, exp: now + HOUR };
  const header = { alg: 'EdDSA', typ: 'session+jwt', kid: await findThumbprint(pem) };
  const sign = (claims: Readonly<Record<string, unknown>>, changed: object = {}, by = key) =>
    new SignJWT({ ...right, ...claims }).setProtectedHeader({ ...header, ...changed }).sign(by);
  const good = await sign({});
  const [head = '', , signature = ''] = good.split('.');
  const publicPem = createPublicKey(pem).export({ type: 'spki', format: 'pem' });
  const hmac = new SignJWT(right).setProtectedHeader({ ...header, alg: 'HS256' });
  return {
    'an expired session': await sign({ exp: now - 1 }),
    'a session that never expires': await sign({ exp: undefined }),
    'a session of another issuer': await sign({ iss: 'https://elsewhere.example' }),
    'a session for another audience': await sign({ aud: 'another' }),
    'a session without a subject': await sign({ sub: undefined }),
    'a session with a number as subject': await sign({ sub: 42 }),
    'a session with NUL in its subject': await sign({ sub: `${userId}\0` }),
    'a session with half of a surrogate pair in its subject': await sign({ sub: `${userId}\ud800` }),
    'a session with a subject of 256 characters': await sign({ sub: userId.padEnd(256, 'a') }),
    'a session that is not valid yet': await sign({ nbf: now + HOUR }),
    'a session without a time of issue': await sign({ iat: undefined }),
    'a session issued more than a day ago': await sign({ iat: now - 25 * HOUR }),
    'a session issued in the future': await sign({ iat: now + HOUR, exp: now + 2 * HOUR }),
    'an ID token without a nonce': await sign({}, { typ: 'JWT' }),
    'an ID token issued to another client': await sign({ nonce: 'n', azp: 'another' }, { typ: 'JWT' }),
    'an ID token for several audiences without azp': await sign(
      { nonce: 'n', aud: ['phds', 'another'] },
      { typ: 'JWT' },
    ),
    'an access token of the provider': await sign({ nonce: 'n' }, { typ: 'at+jwt' }),
    'a logout token of the provider': await sign(LOGOUT, { typ: 'logout+jwt' }),
    'a logout token of the provider without a type': await sign(
      { nonce: 'n', ...LOGOUT },
      { typ: undefined },
    ),
    'a session under an unknown key id': await sign({}, { kid: 'another' }),
    "a session signed by a stranger's key": await sign({}, {}, strangers),
    'a session with a changed subject': [head, toPart({ ...right, sub: 'grace' }), signature].join('.'),
    'an unsigned session': `${toPart({ alg: 'none', typ: 'session+jwt' })}.${toPart(right)}.`,
    'a session signed with the public key as a secret': await hmac.sign(Buffer.from(publicPem)),
  };
}

function toPart(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}
