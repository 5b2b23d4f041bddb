import { SCOPE_NAMES, type Scope } from '@phds/catalog/scopes';
import type { Clock } from '@phds/service-kit/clock';
import { invalidRequest } from '@phds/service-kit/errors';
import { isSecret, sha256 } from '@phds/service-kit/secrets';
import type { App } from '../domain/app.ts';
import { findActiveGrant } from '../domain/liveness.ts';
import type { AccessToken } from '../domain/token.ts';
import { judgeAccessToken, toWorkingScopes } from '../domain/token.ts';
import type { ClientAuthentication, ClientCredentials } from './client-authentication.ts';
import type { ConsentLedger, LivenessQuery, TokenStore } from './ports.ts';

/** An active token of the calling app. */
export interface OwnToken {
  readonly tokenType: 'access_token' | 'refresh_token';
  readonly clientId: string;
  /** The scopes that work now; never empty. */
  readonly scopes: readonly Scope[];
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly grantId: string | null;
  /** Identifies the person to this app only; null for a userless token. */
  readonly sub: string | null;
}

/** What a token can do now. */
interface Working extends Pick<OwnToken, 'scopes' | 'sub'> {}

type Held = Pick<AccessToken, 'userId' | 'scopes'>;

/**
 * Token introspection for apps (RFC 7662): one of the app's own tokens that works now, else null for every other case. A user's
 * token does not work if its grant has lost all of the token's scopes.
 */
export type OwnIntrospection = (
  credentials: ClientCredentials,
  token: string | undefined,
) => Promise<OwnToken | null>;

export function createOwnIntrospection(dependencies: {
  readonly clients: ClientAuthentication;
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly clock: Clock;
}): OwnIntrospection {
  const { clients, tokens, ledger, clock } = dependencies;

  /** Null when the token is dead or none of its scopes works. */
  async function findWorking(query: LivenessQuery, token: Held): Promise<Working | null> {
    const liveness = await ledger.checkLiveness(query);
    if (!liveness.appAlive) return null;
    if (query.tokenHash !== null && !liveness.tokenAlive) return null;
    if (query.familyId !== null && !liveness.familyAlive) return null;
    if (token.userId === null) return { scopes: token.scopes, sub: null };
    const grant = findActiveGrant(liveness, token.userId);
    if (grant === null) return null;
    const scopes = toWorkingScopes(token.scopes, grant);
    return scopes.length === 0 ? null : { scopes, sub: grant.sub };
  }

  async function findAccess(app: App, hash: Uint8Array): Promise<OwnToken | null> {
    const token = await tokens.findAccessToken(hash);
    if (token === null || token.clientId !== app.clientId) return null;
    if (judgeAccessToken(token, clock.now()) !== 'live') return null;
    const working = await findWorking({ ...token, tokenHash: hash }, token);
    if (working === null) return null;
    const { clientId, issuedAt, expiresAt, grantId } = token;
    return { tokenType: 'access_token', clientId, issuedAt, expiresAt, grantId, ...working };
  }

  async function findRefresh(app: App, hash: Uint8Array): Promise<OwnToken | null> {
    const token = await tokens.findRefreshToken(hash);
    if (token === null || token.family.clientId !== app.clientId) return null;
    const { family, issuedAt, expiresAt } = token;
    const current = token.usedForMs === null && expiresAt > clock.now() && !token.suspended;
    if (!current || family.revokedAt !== null || family.appEpoch !== app.epoch) return null;
    const { clientId, appEpoch, grantId, id: familyId, userId } = family;
    const query = { clientId, appEpoch, grantId, familyId, tokenHash: null };
    // A refresh opens all that the grant has.
    const working = await findWorking(query, { userId, scopes: SCOPE_NAMES });
    if (working === null) return null;
    return { tokenType: 'refresh_token', clientId, issuedAt, expiresAt, grantId, ...working };
  }

  return async (credentials, token) => {
    const app = await clients.authenticate(credentials);
    if (!token) throw invalidRequest('token', 'is required');
    if (isSecret('access_token', token)) return findAccess(app, sha256(token));
    return isSecret('refresh_token', token) ? findRefresh(app, sha256(token)) : null;
  };
}
