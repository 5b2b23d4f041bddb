import { Router } from 'express';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { readListQuery, toList } from '../list-query.ts';
import { OAUTH_HEADERS } from '../oauth-error.ts';
import { answerPublicly } from '../public/public-document.ts';
import { mount, mountNotFound } from '../routing.ts';
import { pushAuthorization, startAuthorization } from './authorize.ts';
import { PUBLIC_SCOPES } from './metadata.ts';
import { endOwnGrant, getOwnGrant, listOwnGrants } from './own-grants.ts';
import { introspectToken, issueToken, revokeToken } from './token-endpoints.ts';

/** Everything under `/oauth`. */
export function createOauthRouter(gateway: Gateway): Router {
  const router = Router({ caseSensitive: true, strict: true });
  mount(router, '/authorize', {
    GET: (exchange) => startAuthorization(gateway, exchange),
    POST: (exchange) => pushAuthorization(gateway, exchange, false),
  });
  mount(router, '/par', { POST: (exchange) => pushAuthorization(gateway, exchange, true) });
  mount(router, '/token', { POST: (exchange) => issueToken(gateway, exchange) });
  mount(router, '/revoke', { POST: (exchange) => revokeToken(gateway, exchange) });
  mount(router, '/introspect', { POST: (exchange) => introspectToken(gateway, exchange) });
  mount(router, '/grants', { GET: (exchange) => listOwnGrants(gateway, exchange) });
  mount(router, '/grants/:id', {
    GET: (exchange) => getOwnGrant(gateway, exchange),
    DELETE: (exchange) => endOwnGrant(gateway, exchange),
  });
  mount(router, '/scopes', { GET: listScopes, OPTIONS: listScopes });
  mountNotFound(router);
  return router;
}

function listScopes({ request, response }: Exchange): void {
  const query = readListQuery(request.originalUrl);
  query.check();
  const { page, pageSize } = query.page;
  const scopes = PUBLIC_SCOPES.slice((page - 1) * pageSize, page * pageSize);
  const list = toList(scopes, query.page, PUBLIC_SCOPES.length);
  answerPublicly(response, request.method, JSON.stringify(list), OAUTH_HEADERS);
}
