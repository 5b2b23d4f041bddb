import { expectStatus, type PartnerApp, registerApp, type Tokens } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';

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
