import { AppError, invalidRequest } from '@phds/service-kit/errors';
import type { ClientAuthentication, ClientCredentials } from './client-authentication.ts';
import type { IssuedTokens, TokenGrant, TokenParameters } from './token-grants.ts';

/** The token endpoint (RFC 6749 section 3.2). Authenticates the client before it checks any parameter. */
export type TokenEndpoint = (
  credentials: ClientCredentials,
  parameters: TokenParameters,
) => Promise<IssuedTokens>;

export function createTokenEndpoint(dependencies: {
  readonly clients: ClientAuthentication;
  /** By `grant_type`. */
  readonly grants: ReadonlyMap<string, TokenGrant>;
}): TokenEndpoint {
  const { clients, grants } = dependencies;
  return async (credentials, parameters) => {
    const app = await clients.authenticate(credentials);
    const { grantType } = parameters;
    if (!grantType) throw invalidRequest('grant_type', 'is required');
    const grant = grants.get(grantType);
    if (grant === undefined) {
      const known = [...grants.keys()].join(', ');
      throw new AppError('unsupported_grant_type', `The grant_type must be one of ${known}.`);
    }
    return grant(app, parameters);
  };
}
