import { parseScopeList } from '@phds/catalog/scopes';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, unauthorized } from '@phds/service-kit/errors';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import { isPublic } from '../app.ts';
import { requireRegistered } from '../authorization-request.ts';
import type { ConsentLedger } from '../clients/consent.ts';
import { type TokenStore, toAccessExpiry } from '../token.ts';
import { requireLiveApp, requireSeconds, type TokenGrant } from './token-endpoint.ts';

/**
 * The client_credentials grant (RFC 6749 section 4.4): an access token of the app itself, without a user and a refresh token. It
 * opens no data, only the list of the app's own grants.
 */
export function createClientCredentialsGrant(dependencies: {
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly clock: Clock;
}): TokenGrant {
  const { tokens, ledger, clock } = dependencies;
  return async (app, { scope }, jkt) => {
    if (isPublic(app))
      throw new AppError('unauthorized_client', 'An app without a secret has no tokens of its own.');
    // Words of SMART are for data of people.
    const asked = { ...parseScopeList(scope ?? ''), words: [], unregistered: [] };
    const scopes = scope ? requireRegistered(asked, app.scopes) : app.scopes;
    const { clientId, epoch: appEpoch } = app;
    const now = clock.now();
    const expiresAt = toAccessExpiry(app, now, null);
    const accessToken = newSecret('access_token');
    const hash = sha256(accessToken);
    // At the same time: a stored token that is not answered is of no use to anybody.
    const [, stored] = await Promise.all([
      requireLiveApp(ledger, { clientId, appEpoch }),
      tokens.insertOwnToken({ hash, clientId, scopes, jkt, appEpoch, issuedAt: now, expiresAt }),
    ]);
    if (!stored) throw unauthorized('app no longer active');
    return {
      accessToken,
      expiresInSeconds: requireSeconds(expiresAt, now),
      dpopBound: jkt !== null,
      scopes,
      askedWords: [],
    };
  };
}
