import type { Listed, Page } from '@phds/catalog/pagination';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, notFound, unauthorized } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import type { ConsentGrants, ConsentLedger } from './clients/consent.ts';
import type { OwnGrant, OwnGrantFilter } from './clients/consent-messages.ts';
import { judgeAccessToken } from './domain/token.ts';
import type { TokenStore } from './store/pg-tokens.ts';

/**
 * The grants of the app behind an access token. Requires an app's own (client credentials) token. A user's token is `unauthorized`
 * here; the gateway refuses a live one before. Unknown grants and those of other apps are `not_found`.
 */
export interface OwnGrants {
  list(tokenHash: Uint8Array, filter: OwnGrantFilter, page: Page): Promise<Listed<OwnGrant>>;
  get(tokenHash: Uint8Array, id: string): Promise<OwnGrant>;
  /** Ends a grant, in effect everywhere when it returns the time. Idempotent. */
  end(tokenHash: Uint8Array, id: string): Promise<Date>;
}

export function createOwnGrants(dependencies: {
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly grants: ConsentGrants;
  readonly clock: Clock;
}): OwnGrants {
  const { tokens, ledger, grants, clock } = dependencies;

  async function identify(tokenHash: Uint8Array): Promise<string> {
    const token = await tokens.findAccessToken(tokenHash);
    const state = token === null ? 'dead' : judgeAccessToken(token, clock.now());
    if (state === 'expired') throw new AppError('token_expired');
    if (token === null || state === 'dead') throw unauthorized('token not live');
    if (token.userId !== null) throw unauthorized("a user's token");
    const liveness = await ledger.checkLiveness({ ...token, tokenHash });
    if (!liveness.appAlive || !liveness.tokenAlive) throw unauthorized('token not live');
    return token.clientId;
  }

  return {
    list: async (tokenHash, filter, page) => grants.list(await identify(tokenHash), filter, page),
    get: async (tokenHash, id) => grants.get(await identify(tokenHash), parseGrantId(id)),
    end: async (tokenHash, id) => grants.end(await identify(tokenHash), parseGrantId(id)),
  };
}

function parseGrantId(id: string): string {
  if (!isId('grt', id)) throw notFound();
  return id;
}
