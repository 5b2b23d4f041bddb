import type { Clock } from '@phds/service-kit/clock';
import { unauthorized } from '@phds/service-kit/errors';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import { parseRequestedScopes } from '../domain/authorization-request.ts';
import { toAccessExpiry } from '../domain/token.ts';
import type { ConsentLedger, TokenStore } from './ports.ts';
import type { TokenGrant } from './token-grants.ts';
import { requireLiveApp, requireSeconds, toScopeText } from './token-grants.ts';

/**
 * The client_credentials grant (RFC 6749 section 4.4): an access token of the app itself, without a user and a refresh token. It
 * opens no data, only the list of the app's own grants.
 */
export function createOwnTokens(dependencies: {
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly clock: Clock;
}): TokenGrant {
  const { tokens, ledger, clock } = dependencies;
  return async (app, { scope }) => {
    const scopes = scope ? parseRequestedScopes(scope, app.scopes) : app.scopes;
    const { clientId, epoch: appEpoch } = app;
    const now = clock.now();
    const expiresAt = toAccessExpiry(now, null);
    const accessToken = newSecret('access_token');
    const hash = sha256(accessToken);
    // At the same time: a stored token that is not answered is of no use to anybody.
    const [, stored] = await Promise.all([
      requireLiveApp(ledger, { clientId, appEpoch, grantId: null, familyId: null }),
      tokens.insertOwnToken({ hash, clientId, scopes, appEpoch, issuedAt: now, expiresAt }),
    ]);
    if (!stored) throw unauthorized('app no longer active');
    return {
      accessToken,
      expiresInSeconds: requireSeconds(expiresAt, now),
      refreshToken: null,
      scope: toScopeText(scopes),
      grantId: null,
      sub: null,
    };
  };
}
