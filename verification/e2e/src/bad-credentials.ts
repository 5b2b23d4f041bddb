import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { findThumbprint } from '@phds/local-stack/key-files';
import type { Stack } from '@phds/local-stack/stack';
import { expectStatus, type PartnerApp, registerApp, type Tokens } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import { SignJWT } from 'jose';

const HEART = 'read:health-data:heart';

/** Access tokens that were valid once, by what ended them, and one that is still valid. */
export interface DeadTokens {
  readonly live: Tokens;
  readonly code: string;
  readonly dead: Readonly<Record<string, string>>;
}

/** Ends an access token of this app in every possible way. The sessions are those of a developer and of a user. */
export async function endTokens(app: PartnerApp, developer: string, user: string): Promise<DeadTokens> {
  const revoked = await app.connect(user, [HEART]);
  expectStatus(200, await app.revoke(revoked.accessToken));
  const family = await app.connect(user, [HEART]);
  expectStatus(200, await app.revoke(family.refreshToken));
  const { code: replayedCode } = await app.expectCode(user, [HEART]);
  const replayed = await app.expectTokens(replayedCode);
  expectStatus(400, await app.exchange(replayedCode));
  const granted = await app.connect(user, [HEART]);
  const grantUrl = `${app.gateway}/partner/consent/grants/${granted.grantId}`;
  expectStatus(200, await send(grantUrl, { method: 'DELETE', bearer: user }));
  const live = await app.connect(user, [HEART]);
  const { code } = await app.expectCode(user, [HEART]);

  const suspended = await registerApp(app.gateway, developer);
  const ofSuspended = await suspended.connect(user, [HEART]);
  const userlessOfSuspended = await suspended.userlessToken();
  await setStatus(suspended, developer, 'suspended');
  const ended = await registerApp(app.gateway, developer);
  const ofEnded = await ended.connect(user, [HEART]);
  await setStatus(ended, developer, 'revoked');
  const reborn = await registerApp(app.gateway, developer);
  const ofFormerLife = await reborn.connect(user, [HEART]);
  await setStatus(reborn, developer, 'revoked');
  await setStatus(reborn, developer, 'active');
  return {
    live,
    code,
    dead: {
      'a revoked access token': revoked.accessToken,
      'an access token whose refresh token was revoked': family.accessToken,
      'an access token whose code was replayed': replayed.accessToken,
      'an access token whose grant was revoked': granted.accessToken,
      'an access token of a suspended app': ofSuspended.accessToken,
      'a userless token of a suspended app': userlessOfSuspended,
      'an access token of a revoked app': ofEnded.accessToken,
      'an access token from before the app was revoked and reactivated': ofFormerLife.accessToken,
    },
  };
}

/** Sets an app's status as its developer. */
export async function setStatus(app: PartnerApp, developer: string, status: string): Promise<void> {
  const url = `${app.gateway}/developer/apps/${app.clientId}/status`;
  expectStatus(200, await send(url, { bearer: developer, json: { status } }));
}

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
