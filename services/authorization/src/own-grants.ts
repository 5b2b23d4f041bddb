import { toPage } from '@phds/catalog/pagination';
import type {
  EndOwnGrantRequest,
  ListOwnGrantsRequest,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, notFound, unauthorized } from '@phds/service-kit/errors';
import { isId } from '@phds/service-kit/ids';
import type { Consent } from './clients/consent.ts';
import { judgeAccessToken, parseTokenHash, type TokenStore, toLivenessQuery } from './token.ts';

/**
 * The grants of the app behind an access token, which has to be the app's own (client credentials). A user's token is `unauthorized`
 * here; the gateway refuses a live one before. Unknown grants and those of other apps are `not_found`.
 */
export function createOwnGrants({
  tokens,
  ledger,
  consent,
  clock,
}: Pick<Consent, 'ledger' | 'consent'> & { readonly tokens: TokenStore; readonly clock: Clock }) {
  async function identify(tokenHash: Uint8Array): Promise<string> {
    const token = await tokens.findAccessToken(parseTokenHash(tokenHash));
    const state = token === null ? 'dead' : judgeAccessToken(token, clock.now());
    if (state === 'expired') throw new AppError('token_expired');
    if (token === null || state === 'dead') throw unauthorized('token not live');
    if (token.userId !== null) throw unauthorized("a user's token");
    const liveness = await ledger.checkLiveness(toLivenessQuery(token));
    if (!liveness.appAlive || !liveness.tokenAlive) throw unauthorized('token not live');
    return token.clientId;
  }

  return {
    async listOwnGrants(request: ListOwnGrantsRequest) {
      const { tokenHash, status, sub, before, deletionRequested, grantId } = request;
      const clientId = await identify(tokenHash);
      if (grantId !== '') parseGrantId(grantId);
      const filter = { status, sub, before, deletionRequested, grantId };
      const page = toPage(request.page);
      const { grants, total } = await consent.listAppGrants({ clientId, page, ...filter });
      return { grants, total };
    },
    /** In effect everywhere when it returns the time. Idempotent. */
    async endOwnGrant({ tokenHash, id }: EndOwnGrantRequest) {
      const clientId = await identify(tokenHash);
      const { revokedAt } = await consent.revokeAppGrant({ clientId, id: parseGrantId(id) });
      return { ...(revokedAt && { revokedAt }) };
    },
  };
}

function parseGrantId(id: string): string {
  if (!isId('grt', id)) throw notFound();
  return id;
}
