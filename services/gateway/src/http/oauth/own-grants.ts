import { GRANT_STATUSES } from '@phds/catalog/wire-names';
import type { AppGrant } from '@phds/contracts/phds/consent/v1/consent_pb';
import { unavailable } from '@phds/service-kit/errors';
import { z } from 'zod';
import { authenticate } from '../data-request.ts';
import { type Exchange, pathParameter, takeFromLimit } from '../exchange.ts';
import { OAUTH_HEADERS, tokenOfPerson } from '../http-error.ts';
import { grantStatusName, required, toGrantStatus, toInstant, toNullable } from '../messages.ts';
import {
  dataFrom,
  dataOf,
  grantEnder,
  instant,
  instantOrNull,
  LIMITED,
  listOf,
  PAGE_QUERY,
  SUB,
  scope,
  sub,
  text,
} from '../openapi/fields.ts';
import type { ErrorCode, MountedOperation } from '../operation.ts';
import { findChoice, type ListQuery, readQuery, toList } from '../query.ts';
import { sendJson } from '../respond.ts';
import { OAUTH_ERRORS, oauthOperation } from './client-operation.ts';

/** An item of `GET /oauth/grants`. */
const ownGrantJson = z
  .object({
    id: text,
    sub: sub.nullable().meta({
      description: 'Identifies the person to this app. Null only while the service is being updated.',
    }),
    scopes: z.array(scope),
    status: z.enum(GRANT_STATUSES),
    granted_at: instant,
    expires_at: instant,
    data_from: dataFrom,
    ended_at: instantOrNull,
    ended_by: grantEnder.nullable(),
    deletion_requested_at: instantOrNull,
  })
  .meta({ id: 'OwnGrant' });

const OWN_GRANTS_QUERY = {
  ...PAGE_QUERY,
  status: z.enum(GRANT_STATUSES).meta({ description: 'Only grants of this status.' }),
  sub: sub.meta({ description: 'Only grants of this person.' }),
  deletion_requested: z.enum(['true']).meta({
    description: 'Only grants whose person asked the app to delete what it has read.',
  }),
  before: text.meta({
    description:
      'Id of a grant: only those that come after it. A list counts at most 10,000 grants; continue with the last one of its last page.',
  }),
} as const;

/** `DELETE /oauth/grants/:id` */
const endedGrantJson = z.object({ id: text, status: z.literal('revoked'), revoked_at: instant });

const ERRORS: readonly ErrorCode[] = [...OAUTH_ERRORS, ['UNAUTHORIZED_CLIENT', 403]];

/** The grants of an app, for its userless token. Of the people only their `sub` for this app. */
export const OWN_GRANT_OPERATIONS: readonly MountedOperation[] = [
  oauthOperation({
    method: 'GET',
    path: '/oauth/grants',
    operationId: 'listOwnGrants',
    summary: 'List the grants of the app',
    security: 'app-token',
    query: OWN_GRANTS_QUERY,
    answers: {
      200: { description: 'The grants, newest first.', body: listOf(ownGrantJson), headers: LIMITED },
    },
    errors: ERRORS,
    handle: listOwnGrants,
  }),
  oauthOperation({
    method: 'GET',
    path: '/oauth/grants/:id',
    operationId: 'getOwnGrant',
    summary: 'Read a grant of the app',
    security: 'app-token',
    answers: { 200: { description: 'The grant.', body: dataOf(ownGrantJson), headers: LIMITED } },
    errors: [...ERRORS, 'NOT_FOUND'],
    handle: getOwnGrant,
  }),
  oauthOperation({
    method: 'DELETE',
    path: '/oauth/grants/:id',
    operationId: 'endOwnGrant',
    securityEvent: 'revocation',
    summary: 'End a grant of the app',
    description: 'As a revocation by the person: takes effect everywhere before it answers.',
    security: 'app-token',
    answers: { 200: { description: 'The end.', body: dataOf(endedGrantJson), headers: LIMITED } },
    errors: [...ERRORS, 'NOT_FOUND'],
    handle: endOwnGrant,
  }),
];

async function listOwnGrants(exchange: Exchange): Promise<void> {
  const tokenHash = await authenticateApp(exchange);
  const query = readQuery(exchange.request.originalUrl, OWN_GRANTS_QUERY);
  const status = findChoice(query, 'status', GRANT_STATUSES);
  const sub = query.find('sub');
  if (sub !== undefined && !SUB.test(sub)) query.fault('sub', 'must be a `sub` that this service sent');
  const before = query.find('before');
  const deletionRequested = findChoice(query, 'deletion_requested', ['true']) !== undefined;
  await checkForApp(exchange, tokenHash, query);
  await takeFromLimit(exchange, 'grant-lists', exchange.clientId ?? '');
  const { grants, total } = await exchange.gateway.backends.tokens.listOwnGrants({
    tokenHash,
    page: query.page,
    ...(status !== undefined && { status: toGrantStatus(status) }),
    ...(sub !== undefined && { sub }),
    ...(before !== undefined && { before }),
    deletionRequested,
  });
  sendJson(exchange.response, 200, toList(grants.map(toOwnGrant), query.page, total), OAUTH_HEADERS);
}

async function getOwnGrant(exchange: Exchange): Promise<void> {
  const tokenHash = await authenticateApp(exchange);
  const { grants } = await exchange.gateway.backends.tokens.listOwnGrants({
    tokenHash,
    grantId: pathParameter(exchange, 'id'),
  });
  sendJson(exchange.response, 200, { data: toOwnGrant(required(grants[0])) }, OAUTH_HEADERS);
}

async function endOwnGrant(exchange: Exchange): Promise<void> {
  const tokenHash = await authenticateApp(exchange);
  const id = pathParameter(exchange, 'id');
  const { revokedAt } = await exchange.gateway.backends.tokens.endOwnGrant({ tokenHash, id });
  const data: z.infer<typeof endedGrantJson> = { id, status: 'revoked', revoked_at: toInstant(revokedAt) };
  sendJson(exchange.response, 200, { data }, OAUTH_HEADERS);
}

/**
 * The hash of the presented userless token, after its app's limit was counted. authorization judges the token itself with every call.
 */
async function authenticateApp(exchange: Exchange): Promise<Uint8Array> {
  const { gateway } = exchange;
  const who = await authenticate(exchange);
  const { clientId, userId } = who.principal;
  await takeFromLimit(exchange, 'client', clientId);
  if (userId !== '') {
    // Asks again when the facts are cached, so that a token revoked in the meantime gets the uniform 401 instead of a 403.
    const { principal } = who.fromCache ? await gateway.accessTokens.renew(who) : who;
    if (!principal.ledgerChecked) throw unavailable('authorization cannot tell whether the token is revoked');
    throw tokenOfPerson();
  }
  exchange.force?.();
  return who.hash;
}

/** Parameters are validated after authentication, so only an authenticated app sees what is wrong with them. */
async function checkForApp({ gateway }: Exchange, tokenHash: Uint8Array, query: ListQuery): Promise<void> {
  try {
    query.check();
  } catch (error) {
    await gateway.backends.tokens.listOwnGrants({ tokenHash, page: { page: 1, pageSize: 1 } });
    throw error;
  }
}

function toOwnGrant(grant: AppGrant): z.infer<typeof ownGrantJson> {
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
