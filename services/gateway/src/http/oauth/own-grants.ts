import type { OwnGrant } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { unauthorized, unavailable } from '@phds/service-kit/errors';
import { sha256 } from '@phds/service-kit/secrets';
import { applyAllowance } from '../allowance.ts';
import { findAccessToken } from '../bearer.ts';
import { grantStatusName } from '../consent-names.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { HttpError } from '../http-error.ts';
import { readListQuery, toList } from '../list-query.ts';
import { OAUTH_HEADERS } from '../oauth-error.ts';
import { sendJson } from '../respond.ts';
import { toInstant } from '../timestamps.ts';

/** `GET /oauth/grants`: the app's own grants, for its userless token. Contains nothing about the people. */
export async function listOwnGrants(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  const token = findAccessToken(request.headersDistinct['authorization'] ?? []);
  if (token === null) throw unauthorized('not one access token');
  const who = await gateway.authenticator.authenticate(token);
  const { clientId, userId } = who.principal;
  exchange.clientId = clientId;
  applyAllowance(response, await gateway.surfaceLimits.takeForClient(clientId));
  if (userId !== '') {
    // Asks again when the facts are cached, so that a token revoked in the meantime gets the uniform 401 instead of a 403.
    const { principal } = who.fromCache ? await gateway.authenticator.renew(who) : who;
    if (!principal.ledgerChecked) throw unavailable('authorization cannot tell whether the token is revoked');
    throw tokenOfPerson();
  }
  const tokenHash = sha256(token);
  const query = readListQuery(request.originalUrl);
  try {
    query.check();
  } catch (error) {
    // Parameters are validated after authentication, so only an authenticated app sees what is wrong with them.
    await gateway.backends.tokens.listOwnGrants({ tokenHash, page: { page: 1, pageSize: 1 } });
    throw error;
  }
  const { grants, total } = await gateway.backends.tokens.listOwnGrants({ tokenHash, page: query.page });
  sendJson(response, 200, toList(grants.map(toOwnGrant), query.page, total), OAUTH_HEADERS);
}

function tokenOfPerson(): HttpError {
  const message =
    'This needs an access token of the app itself (client_credentials); the one presented acts for a person.';
  return new HttpError(403, 'UNAUTHORIZED_CLIENT', message);
}

function toOwnGrant({ id, scopes, status, grantedAt, expiresAt, deletionRequestedAt }: OwnGrant) {
  return {
    id,
    scopes,
    status: grantStatusName(status),
    granted_at: toInstant(grantedAt),
    expires_at: toInstant(expiresAt),
    deletion_requested_at: toInstant(deletionRequestedAt),
  };
}
