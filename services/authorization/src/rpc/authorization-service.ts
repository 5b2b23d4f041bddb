import { AuthorizationService } from '@phds/contracts/phds/authorization/v1/authorization_pb';
import { type RpcContext, sessionOf } from '@phds/service-kit/rpc/context';
import { implement, type UnaryRpcs } from '@phds/service-kit/rpc/service';
import { OPERATORS } from '@phds/service-kit/trust/callers';
import type { SessionVerifier } from '@phds/service-kit/trust/session';
import type { createAuthorizations } from '../authorizations.ts';
import type { ClientAuthentication } from '../client-authentication.ts';
import type { Decisions } from '../decisions.ts';

/** The authorization-code flow up to the code, and the erasure of people. */
export function createAuthorizationService(dependencies: {
  readonly clients: ClientAuthentication;
  /** The app of a refresh token. */
  readonly findClientOf: (refreshToken: string) => Promise<string | undefined>;
  readonly authorizations: ReturnType<typeof createAuthorizations>;
  readonly decisions: Decisions;
  readonly eraseUser: UnaryRpcs<typeof AuthorizationService>['eraseUser'];
  readonly verifySession: SessionVerifier;
  readonly issuer: string;
}) {
  const { clients, findClientOf, authorizations, decisions, eraseUser } = dependencies;
  const { verifySession, issuer } = dependencies;

  /** Verified here too, so that a caller without a session cannot learn whether a pending approval exists. */
  const verifiedSessionOf = async (context: RpcContext): Promise<string> => {
    const session = sessionOf(context);
    await verifySession(session);
    return session;
  };

  const implementation: UnaryRpcs<typeof AuthorizationService> = {
    ...authorizations,
    async authenticateClient({ client, refreshToken }) {
      const credentials = refreshToken === '' ? client : { clientId: await findClientOf(refreshToken) };
      const { clientId } = await clients.authenticate(credentials);
      return { clientId };
    },
    completeAuthorization: async (decision, context) =>
      decisions.approve(await verifiedSessionOf(context), decision),
    async denyAuthorization({ pendingId }, context) {
      return { redirectUri: await decisions.deny(await verifiedSessionOf(context), pendingId) };
    },
    extendAuthorization: async ({ pendingId }, context) =>
      decisions.extend(await verifiedSessionOf(context), pendingId),
    getIssuer: () => ({ issuer }),
    eraseUser,
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
