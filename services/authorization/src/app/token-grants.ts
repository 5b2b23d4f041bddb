import { parseScopeList, type Scope } from '@phds/catalog/scopes';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest, unauthorized } from '@phds/service-kit/errors';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import { type App, isPublic } from '../domain/app.ts';
import { requireRegistered } from '../domain/authorization-request.ts';
import {
  type DescribedAccess,
  describeAccess,
  findActiveGrant,
  type GrantFacts,
  type Liveness,
  secondsLeft,
  toAccessExpiry,
  toWorkingScopes,
} from '../domain/token.ts';
import type { ClientAuthentication, ClientCredentials } from './client-authentication.ts';
import type { ConsentLedger, LivenessQuery, TokenStore } from './ports.ts';
import { missingDpopProof, type Possession } from './possession.ts';

/** The parameters of the token endpoint; absent ones were not sent. */
export interface TokenParameters {
  readonly grantType?: string | undefined;
  readonly code?: string | undefined;
  readonly redirectUri?: string | undefined;
  readonly codeVerifier?: string | undefined;
  readonly refreshToken?: string | undefined;
  readonly scope?: string | undefined;
  /** A DPoP proof (RFC 9449 section 5). */
  readonly dpop?: string | undefined;
}

/** Parameters whose proof was verified. */
export interface ProvenParameters extends TokenParameters {
  /** Thumbprint of the key of the proof; null without one. */
  readonly jkt: string | null;
}

/** The result of a grant type. Tokens are in plain text, only this time. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  /** Thumbprint of the key that the access token is bound to; null for a bearer token. */
  readonly jkt: string | null;
  /** Null for client credentials, like the grant. */
  readonly refreshToken: string | null;
  /** The access token's scopes that work now. */
  readonly scopes: readonly Scope[];
  /** As in TokenFamily. */
  readonly askedWords: readonly string[];
  readonly grantId: string | null;
  /** Identifies the person to this app only. Null also while consent does not say. */
  readonly sub: string | null;
}

/** A response of the token endpoint. */
export type TokenAnswer = Omit<IssuedTokens, 'scopes' | 'askedWords'> & DescribedAccess;

/** One grant type. `app` is authenticated. */
export type TokenGrant = (app: App, parameters: ProvenParameters) => Promise<IssuedTokens>;

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
  query: Omit<LivenessQuery, 'tokenHash'>,
  userId: string,
): Promise<GrantFacts> {
  const liveness = await requireLiveApp(ledger, query);
  const grant = findActiveGrant(liveness, userId);
  if (grant === null) throw ownInvalidGrant(describeEnded(liveness));
  if (query.familyId !== null && !liveness.familyAlive) throw ownInvalidGrant(FAMILY_REVOKED);
  return grant;
}

function describeEnded({ grant }: Liveness): string {
  if (grant === null) return GRANT_GONE;
  return grant.status === 'expired' ? GRANT_EXPIRED : GRANT_REVOKED;
}

/** The same check for an app only. */
async function requireLiveApp(
  ledger: ConsentLedger,
  query: Omit<LivenessQuery, 'tokenHash'>,
): Promise<Liveness> {
  const liveness = await ledger.checkLiveness({ ...query, tokenHash: null });
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

/** The token endpoint (RFC 6749 section 3.2). Authenticates the client before it checks any parameter but the form of a proof. */
export type TokenEndpoint = (
  credentials: ClientCredentials,
  parameters: TokenParameters,
) => Promise<TokenAnswer>;

export function createTokenEndpoint(dependencies: {
  readonly clients: ClientAuthentication;
  /** By `grant_type`. */
  readonly grants: ReadonlyMap<string, TokenGrant>;
  readonly possession: Possession;
  /** Address of the FHIR interface. */
  readonly fhirBase: string;
}): TokenEndpoint {
  const { clients, grants, possession, fhirBase } = dependencies;
  return async (credentials, parameters) => {
    const proof = possession.read(parameters.dpop, '/oauth/token');
    const app = await clients.authenticate(credentials);
    const { grantType } = parameters;
    if (!grantType) throw invalidRequest('grant_type', 'is required');
    const grant = grants.get(grantType);
    if (grant === undefined) {
      const known = [...grants.keys()].join(', ');
      throw new AppError('unsupported_grant_type', `The grant_type must be one of ${known}.`);
    }
    const jkt = await possession.confirm(proof);
    if (jkt === null && app.dpopBoundAccessTokens) throw missingDpopProof('the app has chosen so');
    const { scopes, askedWords, ...issued } = await grant(app, { ...parameters, jkt });
    return { ...issued, ...describeAccess({ scopes, askedWords, sub: issued.sub }, app, fhirBase) };
  };
}

/**
 * The client_credentials grant (RFC 6749 section 4.4): an access token of the app itself, without a user and a refresh token. It
 * opens no data, only the list of the app's own grants.
 */
export function createOwnTokens(dependencies: {
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly clock: Clock;
}): TokenGrant {
  const { tokens, ledger, clock } = dependencies;
  return async (app, { scope, jkt }) => {
    if (isPublic(app))
      throw new AppError('unauthorized_client', 'An app without a secret has no tokens of its own.');
    // Words of SMART are for data of people.
    const asked = { ...parseScopeList(scope ?? ''), words: [], unregistered: [] };
    const scopes = scope ? requireRegistered(asked, app.scopes) : app.scopes;
    const { clientId, epoch: appEpoch } = app;
    const now = clock.now();
    const expiresAt = toAccessExpiry(app, now, null);
    const accessToken = newSecret('access_token');
    const hash = sha256(accessToken);
    // At the same time: a stored token that is not answered is of no use to anybody.
    const [, stored] = await Promise.all([
      requireLiveApp(ledger, { clientId, appEpoch, grantId: null, familyId: null }),
      tokens.insertOwnToken({ hash, clientId, scopes, jkt, appEpoch, issuedAt: now, expiresAt }),
    ]);
    if (!stored) throw unauthorized('app no longer active');
    return {
      accessToken,
      expiresInSeconds: requireSeconds(expiresAt, now),
      refreshToken: null,
      jkt,
      scopes,
      askedWords: [],
      grantId: null,
      sub: null,
    };
  };
}
