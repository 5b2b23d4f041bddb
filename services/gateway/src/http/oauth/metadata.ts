import { SCOPE_NAMES, SCOPES } from '@phds/catalog/scopes';
import type { Gateway } from '../gateway.ts';

/** `GET /.well-known/oauth-authorization-server` (RFC 8414). */
export function toServerMetadata({ config: { PUBLIC_URL: issuer } }: Gateway) {
  const clientAuthentication = ['client_secret_basic', 'client_secret_post'];
  return {
    issuer,
    authorization_endpoint: `${issuer}/oauth/authorize`,
    token_endpoint: `${issuer}/oauth/token`,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    introspection_endpoint: `${issuer}/oauth/introspect`,
    pushed_authorization_request_endpoint: `${issuer}/oauth/par`,
    require_pushed_authorization_requests: false,
    scopes_supported: SCOPE_NAMES,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token', 'client_credentials'],
    token_endpoint_auth_methods_supported: clientAuthentication,
    revocation_endpoint_auth_methods_supported: clientAuthentication,
    introspection_endpoint_auth_methods_supported: clientAuthentication,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${issuer}/openapi.json`,
  };
}

/** The 22 scopes as `GET /oauth/scopes` lists them. */
export const PUBLIC_SCOPES = SCOPES.map(({ scope, title, description, category, sensitive, endpoints }) => ({
  scope,
  title,
  description,
  category,
  sensitive,
  endpoints,
}));
