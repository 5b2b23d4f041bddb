import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { type RpcContext, sessionOf } from '@phds/service-kit/rpc/context';
import { implement, type UnaryRpcs } from '@phds/service-kit/rpc/service';
import { OPERATORS } from '@phds/service-kit/trust/callers';
import type { SessionVerifier } from '@phds/service-kit/trust/session';
import type { Authorizations } from '../authorizations.ts';
import type { ClientAuthentication } from '../client-authentication.ts';
import type { Decisions } from '../decisions.ts';
import type { Erasures } from '../erasures.ts';
import { toClientCredentials } from './token-service.ts';

/** The authorization-code flow up to the code, and the erasure of people. */
export function createAuthorizationService(dependencies: {
  readonly clients: ClientAuthentication;
  /** The app of a refresh token. */
  readonly findClientOf: (refreshToken: string) => Promise<string | undefined>;
  readonly authorizations: Authorizations;
  readonly decisions: Decisions;
  readonly erasures: Erasures;
  readonly verifySession: SessionVerifier;
  readonly issuer: string;
}) {
  const { clients, findClientOf, authorizations, decisions, erasures } = dependencies;
  const { verifySession, issuer } = dependencies;

  /** Verified here too, so that a caller without a session cannot learn whether a pending approval exists. */
  const verifiedSessionOf = async (context: RpcContext): Promise<string> => {
    const session = sessionOf(context);
    await verifySession(session);
    return session;
  };

  const implementation: UnaryRpcs<typeof AuthorizationService> = {
    async openAuthorization({ client, ...request }) {
      return authorizations.open({ ...request, client: toClientCredentials(client) });
    },
    async authenticateClient({ client, refreshToken }) {
      const credentials =
        refreshToken === '' ? toClientCredentials(client) : { clientId: await findClientOf(refreshToken) };
      const { clientId } = await clients.authenticate(credentials);
      return { clientId };
    },
    async resolveRequestUri({ clientId, requestUri }) {
      return { pendingId: await authorizations.resolve(clientId, requestUri) };
    },
    async completeAuthorization(decision, context) {
      const completed = await decisions.approve(await verifiedSessionOf(context), decision);
      const { grantId, scopes, redirectUri } = completed;
      const grantExpiresAt = timestampFromDate(completed.grantExpiresAt);
      return { grantId, scopes: [...scopes], grantExpiresAt, redirectUri };
    },
    async denyAuthorization({ pendingId }, context) {
      const session = await verifiedSessionOf(context);
      return { redirectUri: (await decisions.deny(session, pendingId)) ?? '' };
    },
    async extendAuthorization({ pendingId }, context) {
      const session = await verifiedSessionOf(context);
      return { expiresAt: timestampFromDate(await decisions.extend(session, pendingId)) };
    },
    getIssuer: () => ({ issuer }),
    eraseUser: ({ userId, revokeApps }) => erasures.erase(userId, revokeApps),
  };

  return implement(AuthorizationService, implementation, {
    openAuthorization: ['gateway'],
    authenticateClient: ['gateway'],
    resolveRequestUri: ['gateway'],
    completeAuthorization: ['gateway'],
    denyAuthorization: ['gateway'],
    extendAuthorization: ['gateway'],
    getIssuer: ['gateway'],
    eraseUser: OPERATORS,
  });
}
