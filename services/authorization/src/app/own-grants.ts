import type { Listed, Page } from '@phds/catalog/pagination';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, unauthorized } from '@phds/service-kit/errors';
import { judgeAccessToken } from '../domain/token.ts';
import type { ConsentApprovals, ConsentLedger, OwnGrant, TokenStore } from './ports.ts';

/**
 * Lists the grants of the app behind an access token, without anything about the people. Requires an app's own (client credentials)
 * token. A user's token is `unauthorized` here; the gateway refuses a live one before.
 */
export type OwnGrants = (tokenHash: Uint8Array, page: Page) => Promise<Listed<OwnGrant>>;

export function createOwnGrants(dependencies: {
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly approvals: ConsentApprovals;
  readonly clock: Clock;
}): OwnGrants {
  const { tokens, ledger, approvals, clock } = dependencies;
  return async (tokenHash, page) => {
    const token = await tokens.findAccessToken(tokenHash);
    const standing = token === null ? 'dead' : judgeAccessToken(token, clock.now());
    if (standing === 'expired') throw new AppError('token_expired');
    if (token === null || standing === 'dead') throw unauthorized('token not live');
    if (token.userId !== null) throw unauthorized("a user's token");
    const liveness = await ledger.checkLiveness({ ...token, tokenHash });
    if (!liveness.appAlive || !liveness.tokenAlive) throw unauthorized('token not live');
    return approvals.listAppGrants(token.clientId, page);
  };
}
