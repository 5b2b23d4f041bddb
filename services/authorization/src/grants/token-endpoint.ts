import type { MessageInitShape } from '@bufbuild/protobuf';
import type {
  IssueTokenRequest,
  IssueTokenResponseSchema,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { type ClientAuthentication, inNameOf } from '../client-authentication.ts';
import { missingDpopProof, type Possession } from '../possession.ts';
import { describeAccess } from '../token.ts';
import type { TokenGrant } from './grant.ts';

/** The token endpoint (RFC 6749 section 3.2). Authenticates the client before it checks any parameter but the form of a proof. */
export function createTokenEndpoint(dependencies: {
  readonly clients: ClientAuthentication;
  /** By `grant_type`. */
  readonly grants: Readonly<Record<string, TokenGrant>>;
  readonly possession: Possession;
  /** Address of the FHIR interface. */
  readonly fhirBase: string;
  readonly onIssued: (grantType: string) => void;
}) {
  const { clients, grants, possession, fhirBase, onIssued } = dependencies;
  return async (request: IssueTokenRequest): Promise<MessageInitShape<typeof IssueTokenResponseSchema>> => {
    const proof = possession.read(request.dpop, '/oauth/token');
    const app = await clients.authenticate(request.client);
    return inNameOf(app, async () => {
      const { grantType } = request;
      if (!grantType) throw invalidRequest('grant_type', 'is required');
      const grant = Object.hasOwn(grants, grantType) ? grants[grantType] : undefined;
      if (grant === undefined) {
        const known = Object.keys(grants).join(', ');
        throw new AppError('unsupported_grant_type', `The grant_type must be one of ${known}.`);
      }
      const jkt = await possession.confirm(proof);
      if (jkt === null && app.dpopBoundAccessTokens) throw missingDpopProof('the app has chosen so');
      const { scopes, askedWords, ...issued } = await grant(app, request, jkt);
      onIssued(grantType);
      const described = describeAccess({ scopes, askedWords, sub: issued.sub ?? '' }, app, fhirBase);
      return { ...issued, ...described, clientId: app.clientId };
    });
  };
}
