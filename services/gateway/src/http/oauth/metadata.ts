import { SCOPE_NAMES, SCOPES } from '@phds/catalog/scopes';
import { ASSERTION_ALGORITHMS } from '@phds/service-kit/trust/client-assertion';
import { POSSESSION_ALGORITHMS } from '@phds/service-kit/trust/dpop';
import { z } from 'zod';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { OAUTH_HEADERS } from '../http-error.ts';
import { listOf, PAGE_QUERY, scope, text } from '../openapi/fields.ts';
import { type MountedOperation, publicDocument } from '../operation.ts';
import { readQuery, sliceOf, toList } from '../query.ts';
import { answerPublicly } from '../respond.ts';
import { oauthOperation } from './client-operation.ts';

const uri = text.meta({ format: 'uri' });
const texts = z.array(text);

const serverMetadataJson = z
  .object({
    issuer: uri,
    authorization_endpoint: uri,
    token_endpoint: uri,
    revocation_endpoint: uri,
    introspection_endpoint: uri,
    pushed_authorization_request_endpoint: uri,
    require_pushed_authorization_requests: z.boolean(),
    scopes_supported: z.array(scope),
    response_types_supported: texts,
    response_modes_supported: texts,
    grant_types_supported: texts,
    token_endpoint_auth_methods_supported: texts,
    token_endpoint_auth_signing_alg_values_supported: texts,
    revocation_endpoint_auth_methods_supported: texts,
    revocation_endpoint_auth_signing_alg_values_supported: texts,
    introspection_endpoint_auth_methods_supported: texts,
    introspection_endpoint_auth_signing_alg_values_supported: texts,
    code_challenge_methods_supported: texts,
    authorization_response_iss_parameter_supported: z.boolean(),
    dpop_signing_alg_values_supported: texts,
    request_parameter_supported: z.boolean(),
    request_uri_parameter_supported: z.boolean(),
    service_documentation: uri,
  })
  .meta({ id: 'ServerMetadata' });

/** `GET /.well-known/oauth-authorization-server` (RFC 8414). */
export function toServerMetadata({
  config: { PUBLIC_URL: issuer },
}: Gateway): z.infer<typeof serverMetadataJson> {
  const clientAuthentication = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    pushed_authorization_request_endpoint: `${issuer}/oauth/par`,
    require_pushed_authorization_requests: false,
    scopes_supported: [...SCOPE_NAMES],
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_methods_supported: [...clientAuthentication, 'none'],
    token_endpoint_auth_signing_alg_values_supported: [...ASSERTION_ALGORITHMS],
    revocation_endpoint_auth_methods_supported: [...clientAuthentication, 'none'],
    revocation_endpoint_auth_signing_alg_values_supported: [...ASSERTION_ALGORITHMS],
    introspection_endpoint_auth_methods_supported: clientAuthentication,
    introspection_endpoint_auth_signing_alg_values_supported: [...ASSERTION_ALGORITHMS],
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    dpop_signing_alg_values_supported: [...POSSESSION_ALGORITHMS],
    // Request objects (RFC 9101). A `request_uri` from `/oauth/par` works whatever this says (RFC 9126 section 5).
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    service_documentation: `${issuer}/docs`,
  };
}

export const publicScope = z
  .object({
    scope,
    title: text,
    description: text,
    category: text,
    sensitive: z.boolean(),
    endpoints: z.array(text),
  })
  .meta({ id: 'ScopeDescription' });

/** The 22 scopes as `GET /oauth/scopes` lists them. */
const PUBLIC_SCOPES: readonly z.infer<typeof publicScope>[] = SCOPES.map((entry) => ({
  scope: entry.scope,
  title: entry.title,
  description: entry.description,
  category: entry.category,
  sensitive: entry.sensitive,
  endpoints: [...entry.endpoints],
}));

export const SERVER_METADATA = publicDocument({
  path: '/.well-known/oauth-authorization-server',
  operationId: 'getServerMetadata',
  summary: 'Describe the authorization server (RFC 8414)',
  body: serverMetadataJson,
  toContent: toServerMetadata,
});

export const LIST_SCOPES: MountedOperation = oauthOperation({
  method: 'GET',
  path: '/oauth/scopes',
  operationId: 'listScopes',
  summary: 'List all scopes',
  security: 'none',
  query: PAGE_QUERY,
  answers: {
    200: {
      description: 'The scopes.',
      body: listOf(publicScope),
      headers: ['Access-Control-Allow-Origin'],
    },
  },
  errors: ['INVALID_REQUEST'],
  also: ['HEAD', 'OPTIONS'],
  handle: listScopes,
});

function listScopes({ request, response }: Exchange): void {
  const query = readQuery(request.originalUrl, PAGE_QUERY);
  query.check();
  const list = toList(sliceOf(PUBLIC_SCOPES, query.page), query.page, PUBLIC_SCOPES.length);
  answerPublicly(response, request.method, JSON.stringify(list), OAUTH_HEADERS);
}
