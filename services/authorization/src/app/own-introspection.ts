import type { Scope } from '@phds/catalog/scopes';
import type { Clock } from '@phds/service-kit/clock';
import { invalidRequest } from '@phds/service-kit/errors';
import { isSecret, sha256 } from '@phds/service-kit/secrets';
import type { App } from '../domain/app.ts';
import { findActiveGrant } from '../domain/liveness.ts';
import { judgeAccessToken } from '../domain/token.ts';
import type { ClientAuthentication, ClientCredentials } from './client-authentication.ts';
import type { ConsentLedger, LivenessQuery, TokenStore } from './ports.ts';

/** An active token of the asking app. */
export interface OwnToken {
  readonly tokenType: 'access_token' | 'refresh_token';
  readonly clientId: string;
  readonly scopes: readonly Scope[];
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly grantId: string | null;
}

/** Token introspection for apps (RFC 7662): an own token that works now, else null, for every other cause alike. */
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

  async function isAlive(query: LivenessQuery, userId: string | null): Promise<boolean> {
    const liveness = await ledger.checkLiveness(query);
    if (!liveness.appAlive) return false;
    if (query.tokenHash !== null && !liveness.tokenAlive) return false;
    if (query.familyId !== null && !liveness.familyAlive) return false;
    return userId === null || findActiveGrant(liveness, userId) !== null;
  }

  async function findAccess(app: App, hash: Uint8Array): Promise<OwnToken | null> {
    const token = await tokens.findAccessToken(hash);
    if (token === null || token.clientId !== app.clientId) return null;
    if (judgeAccessToken(token, clock.now()) !== 'live') return null;
    if (!(await isAlive({ ...token, tokenHash: hash }, token.userId))) return null;
    const { clientId, scopes, issuedAt, expiresAt, grantId } = token;
    return { tokenType: 'access_token', clientId, scopes, issuedAt, expiresAt, grantId };
  }

  async function findRefresh(app: App, hash: Uint8Array): Promise<OwnToken | null> {
    const token = await tokens.findRefreshToken(hash);
    if (token === null || token.family.clientId !== app.clientId) return null;
    const { family, scopes, issuedAt, expiresAt } = token;
    const current = token.rotatedAt === null && expiresAt > clock.now() && !token.suspended;
    if (!current || family.revokedAt !== null || family.appEpoch !== app.epoch) return null;
    const { clientId, appEpoch, grantId, id: familyId } = family;
    const query = { clientId, appEpoch, grantId, familyId, tokenHash: null };
    if (!(await isAlive(query, family.userId))) return null;
    return { tokenType: 'refresh_token', clientId, scopes, issuedAt, expiresAt, grantId };
  }

  return async (credentials, token) => {
    const app = await clients.authenticate(credentials);
    if (!token) throw invalidRequest('token', 'is required');
    if (isSecret('access_token', token)) return findAccess(app, sha256(token));
    return isSecret('refresh_token', token) ? findRefresh(app, sha256(token)) : null;
  };
}
