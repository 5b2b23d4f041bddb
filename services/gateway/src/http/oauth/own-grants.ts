import { GRANT_STATUSES } from '@phds/catalog/wire-names';
import type { OwnGrant } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppError, unauthorized, unavailable } from '@phds/service-kit/errors';
import { sha256 } from '@phds/service-kit/secrets';
import type { z } from 'zod';
import { applyAllowance, limitCostly } from '../allowance.ts';
import { findAccessToken } from '../bearer.ts';
import { grantStatusName, toGrantStatus } from '../consent-names.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { HttpError } from '../http-error.ts';
import { findChoice, type ListQuery, readListQuery, toList } from '../list-query.ts';
import { OAUTH_HEADERS } from '../oauth-error.ts';
import { sendJson } from '../respond.ts';
import { pathParameter } from '../routing.ts';
import { toInstant, toNullable } from '../timestamps.ts';
import { type endedGrantJson, OWN_GRANTS_QUERY, type ownGrantJson, SUB } from './answers.ts';

/** `GET /oauth/grants`: the app's own grants, for its userless token. Of the people only their `sub` for this app. */
export async function listOwnGrants(gateway: Gateway, exchange: Exchange): Promise<void> {
  const tokenHash = await authenticateApp(gateway, exchange);
  const query = readListQuery(exchange.request.originalUrl, OWN_GRANTS_QUERY);
  const status = findChoice(query, 'status', GRANT_STATUSES);
  const sub = query.find('sub');
  if (sub !== undefined && !SUB.test(sub)) query.fault('sub', 'must be a `sub` that this service sent');
  const before = query.find('before');
  await checkForApp(gateway, tokenHash, query);
  await limitCostly(gateway, exchange, 'grant-lists', exchange.clientId ?? '');
  const { grants, total } = await gateway.backends.tokens.listOwnGrants({
    tokenHash,
    page: query.page,
    ...(status !== undefined && { status: toGrantStatus(status) }),
    ...(sub !== undefined && { sub }),
    ...(before !== undefined && { before }),
  });
  sendJson(exchange.response, 200, toList(grants.map(toOwnGrant), query.page, total), OAUTH_HEADERS);
}

/** `GET /oauth/grants/:id` */
export async function getOwnGrant(gateway: Gateway, exchange: Exchange): Promise<void> {
  const tokenHash = await authenticateApp(gateway, exchange);
  const { grant } = await gateway.backends.tokens.getOwnGrant({
    tokenHash,
    id: pathParameter(exchange, 'id'),
  });
  if (grant === undefined) throw new AppError('internal', '', { cause: 'authorization sent no grant' });
  sendJson(exchange.response, 200, { data: toOwnGrant(grant) }, OAUTH_HEADERS);
}

/** `DELETE /oauth/grants/:id`: takes effect everywhere before the response is sent. */
export async function endOwnGrant(gateway: Gateway, exchange: Exchange): Promise<void> {
  const tokenHash = await authenticateApp(gateway, exchange);
  const id = pathParameter(exchange, 'id');
  const { revokedAt } = await gateway.backends.tokens.endOwnGrant({ tokenHash, id });
  const data: z.infer<typeof endedGrantJson> = { id, status: 'revoked', revoked_at: toInstant(revokedAt) };
  sendJson(exchange.response, 200, { data }, OAUTH_HEADERS);
}

/**
 * The hash of the presented userless token, after its app's limit was counted. authorization judges the token itself with every call.
 */
async function authenticateApp(gateway: Gateway, exchange: Exchange): Promise<Uint8Array> {
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
  return sha256(token);
}

/** Parameters are validated after authentication, so only an authenticated app sees what is wrong with them. */
async function checkForApp(gateway: Gateway, tokenHash: Uint8Array, query: ListQuery): Promise<void> {
  try {
    query.check();
  } catch (error) {
    await gateway.backends.tokens.listOwnGrants({ tokenHash, page: { page: 1, pageSize: 1 } });
    throw error;
  }
}

function tokenOfPerson(): HttpError {
  const message =
    'This needs an access token of the app itself (client_credentials); the one presented acts for a person.';
  return new HttpError(403, 'UNAUTHORIZED_CLIENT', message);
}

function toOwnGrant(grant: OwnGrant): z.infer<typeof ownGrantJson> {
  return {
    id: grant.id,
    sub: toNullable(grant.sub),
    scopes: grant.scopes,
    status: grantStatusName(grant.status),
    granted_at: toInstant(grant.grantedAt),
    expires_at: toInstant(grant.expiresAt),
    data_from: toNullable(grant.dataFrom),
    ended_at: toInstant(grant.endedAt),
    ended_by: toNullable(grant.endedBy),
    deletion_requested_at: toInstant(grant.deletionRequestedAt),
  };
}
