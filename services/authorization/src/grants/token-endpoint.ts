import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Scope } from '@phds/catalog/scopes';
import type {
  IssueTokenRequest,
  IssueTokenResponseSchema,
} from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { type GrantFacts, GrantStatus, type Liveness } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, invalidRequest, unauthorized } from '@phds/service-kit/errors';
import type { App } from '../app.ts';
import { type ClientAuthentication, inNameOf } from '../client-authentication.ts';
import type { ConsentLedger, LivenessQuery } from '../clients/consent.ts';
import { missingDpopProof, type Possession } from '../possession.ts';
import { describeAccess, findActiveGrant, secondsLeft, toWorkingScopes } from '../token.ts';

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

// What the handlers of grant types have in common.

/** The result of a grant type. Tokens are in plain text, only this time. */
export interface IssuedTokens
  extends Omit<
    MessageInitShape<typeof IssueTokenResponseSchema>,
    '$typeName' | 'scope' | 'patient' | 'clientId'
  > {
  /** The access token's scopes that work now. */
  readonly scopes: readonly Scope[];
  /** As in TokenFamily. */
  readonly askedWords: readonly string[];
}

/** One grant type. `app` is authenticated. `jkt` is the thumbprint of the key of a proof, which was verified; null without one. */
export type TokenGrant = (app: App, request: IssueTokenRequest, jkt: string | null) => Promise<IssuedTokens>;

/**
 * RFC 6749 section 5.2 invalid_grant for a code or token that may be another app's: the same response for every cause, which is
 * only logged.
 */
export function invalidGrant(cause: string): AppError {
  return new AppError('invalid_grant', 'The grant is invalid, expired, revoked or already used.', { cause });
}

/** invalid_grant for the app's own code or token, which includes the cause. */
export function ownInvalidGrant(cause: string): AppError {
  return new AppError('invalid_grant', cause, { cause });
}

const GRANT_EXPIRED = 'The grant has expired.';
const GRANT_REVOKED = 'The grant was revoked; GET /oauth/grants tells when and by whom.';
const GRANT_GONE = 'The grant no longer exists.';

/** A family is revoked as a whole, and only for these reasons. */
export const FAMILY_REVOKED =
  'The refresh token was revoked: at /oauth/revoke, or because its code or a refresh token was used again.';

/**
 * Asks the ledger whether tokens may be issued for this grant now. Throws `unauthorized` when the app is not active,
 * `invalid_grant` when family or grant is not live, `unavailable` when the ledger does not answer.
 */
export async function requireLiveGrant(
  ledger: ConsentLedger,
  query: LivenessQuery,
  userId: string,
): Promise<GrantFacts> {
  const liveness = await requireLiveApp(ledger, query);
  const grant = findActiveGrant(liveness, userId);
  if (grant === null) throw ownInvalidGrant(describeEnded(liveness));
  if (!liveness.familyAlive) throw ownInvalidGrant(FAMILY_REVOKED);
  return grant;
}

function describeEnded({ grant }: Liveness): string {
  if (grant === undefined) return GRANT_GONE;
  return grant.status === GrantStatus.EXPIRED ? GRANT_EXPIRED : GRANT_REVOKED;
}

/** The same check for an app only. */
export async function requireLiveApp(ledger: ConsentLedger, query: LivenessQuery): Promise<Liveness> {
  const liveness = await ledger.checkLiveness(query);
  if (!liveness.appAlive) throw unauthorized('app not alive');
  return liveness;
}

/** The scopes that work now. Throws `invalid_grant` when the grant has lost them all. */
export function requireWorkingScopes(scopes: readonly Scope[], grant: GrantFacts): readonly Scope[] {
  const working = toWorkingScopes(scopes, grant);
  if (working.length === 0) throw ownInvalidGrant('The person has withdrawn every scope.');
  return working;
}

/** Remaining whole seconds of an access token. Throws `invalid_grant` when its grant leaves none. */
export function requireSeconds(expiresAt: Date, now: Date): number {
  const seconds = secondsLeft(expiresAt, now);
  if (seconds < 1) throw ownInvalidGrant(GRANT_EXPIRED);
  return seconds;
}
