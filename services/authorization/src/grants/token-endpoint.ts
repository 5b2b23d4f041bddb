import { AppError, invalidRequest } from '@phds/service-kit/errors';
import type { UnverifiedProof } from '@phds/service-kit/trust/dpop';
import { type ClientAuthentication, type ClientCredentials, inNameOf } from '../client-authentication.ts';
import type { App } from '../domain/app.ts';
import { type DescribedAccess, describeAccess } from '../domain/token.ts';
import { missingDpopProof, type Possession } from '../possession.ts';
import type { IssuedTokens, TokenGrant, TokenParameters } from './grant.ts';

/** A response of the token endpoint. */
export type TokenAnswer = Omit<IssuedTokens, 'scopes' | 'askedWords'> &
  DescribedAccess &
  Pick<App, 'clientId'>;

/** The token endpoint (RFC 6749 section 3.2). Authenticates the client before it checks any parameter but the form of a proof. */
export type TokenEndpoint = (
  credentials: ClientCredentials,
  parameters: TokenParameters,
) => Promise<TokenAnswer>;

export function createTokenEndpoint(dependencies: {
  readonly clients: ClientAuthentication;
  /** By `grant_type`. */
  readonly grants: Readonly<Record<string, TokenGrant>>;
  readonly possession: Possession;
  /** Address of the FHIR interface. */
  readonly fhirBase: string;
  readonly onIssued: (grantType: string) => void;
}): TokenEndpoint {
  const { clients, grants, possession, fhirBase, onIssued } = dependencies;
  return async (credentials, parameters) => {
    const proof = possession.read(parameters.dpop, '/oauth/token');
    const app = await clients.authenticate(credentials);
    return inNameOf(app, () => issue(app, proof, parameters));
  };

  async function issue(app: App, proof: UnverifiedProof | null, parameters: TokenParameters) {
    const { grantType } = parameters;
    if (!grantType) throw invalidRequest('grant_type', 'is required');
    const grant = Object.hasOwn(grants, grantType) ? grants[grantType] : undefined;
    if (grant === undefined) {
      const known = Object.keys(grants).join(', ');
      throw new AppError('unsupported_grant_type', `The grant_type must be one of ${known}.`);
    }
    const jkt = await possession.confirm(proof);
    if (jkt === null && app.dpopBoundAccessTokens) throw missingDpopProof('the app has chosen so');
    const { scopes, askedWords, ...issued } = await grant(app, { ...parameters, jkt });
    onIssued(grantType);
    const described = describeAccess({ scopes, askedWords, sub: issued.sub }, app, fhirBase);
    return { ...issued, ...described, clientId: app.clientId };
  }
}
