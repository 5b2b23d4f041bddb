import type { KeyObject } from 'node:crypto';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { RevokeTokenRequest } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import type { Clock } from '@phds/service-kit/clock';
import { invalidRequest } from '@phds/service-kit/errors';
import { isSecret, sha256 } from '@phds/service-kit/secrets';
import type { App } from './app.ts';
import { type ClientAuthentication, inNameOf } from './client-authentication.ts';
import type { ConsentLedger } from './clients/consent.ts';
import { findRefreshToken, isPastRetry } from './refresh-tokens.ts';
import { type AccessToken, type TokenStore, toFamilyHorizon } from './token.ts';

/**
 * Revokes a token family, first in the ledger and then in our own tables. The ledger applies everywhere, so a crash in between
 * cannot leave the family alive. Throws `unavailable` when the revocation may not be durable. Idempotent.
 */
export type FamilyRevocation = (familyId: string) => Promise<void>;

export function createFamilyRevocation(dependencies: {
  readonly ledger: ConsentLedger;
  readonly tokens: TokenStore;
  readonly clock: Clock;
}): FamilyRevocation {
  const { ledger, tokens, clock } = dependencies;
  return async (familyId) => {
    const now = clock.now();
    const expiresAt = timestampFromDate(toFamilyHorizon(now));
    await ledger.revokeTokens({ revoked: { case: 'familyId', value: familyId }, expiresAt });
    await tokens.markFamilyRevoked(familyId, now);
  };
}

/**
 * Revokes a token (RFC 7009): a single access token, or a refresh token with its whole family. Unknown, other apps', expired and
 * dead tokens get the same response. Tokens that only our own clock considers expired are still revoked, because the ledger's clock
 * decides about accesses and may differ. Throws `unavailable` when the ledger did not confirm; the outcome is then unknown and the
 * caller should repeat. Returns the app.
 */
export function createTokenRevocation(dependencies: {
  readonly clients: ClientAuthentication;
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly revokeFamily: FamilyRevocation;
  readonly clock: Clock;
  readonly derivationKey: KeyObject;
}) {
  const { clients, tokens, ledger, revokeFamily, clock } = dependencies;

  async function revokeAccess(clientId: string, hash: AccessToken['hash']): Promise<void> {
    const token = await tokens.findAccessToken(hash);
    if (token === null || token.clientId !== clientId || token.revokedAt !== null) return;
    const expiresAt = timestampFromDate(token.expiresAt);
    await ledger.revokeTokens({ revoked: { case: 'tokenHash', value: hash }, expiresAt });
    await tokens.markTokenRevoked(hash, clock.now());
  }

  async function revokeRefresh(app: App, text: string): Promise<void> {
    const token = await findRefreshToken(dependencies, text);
    if (token === null || token.family.clientId !== app.clientId || token.family.revokedAt !== null) return;
    // Everybody can call in the name of an app without a secret, so an old token that leaked ends nothing of it.
    if (token.family.jkt !== null && isPastRetry(token, app)) return;
    await revokeFamily(token.family.id);
  }

  return async ({ client, token }: RevokeTokenRequest) => {
    const app = await clients.authenticate(client);
    const { clientId } = app;
    await inNameOf(app, async () => {
      if (!token) throw invalidRequest('token', 'is required');
      if (isSecret('access_token', token)) await revokeAccess(clientId, sha256(token));
      else await revokeRefresh(app, token);
    });
    return { clientId };
  };
}
