import type { KeyObject } from 'node:crypto';
import { SCOPE_NAMES, type Scope } from '@phds/catalog/scopes';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { isSecret, sha256 } from '@phds/service-kit/secrets';
import type { AssertionSigner } from '@phds/service-kit/trust/access-assertion';
import { type ClientAuthentication, type ClientCredentials, inNameOf } from './client-authentication.ts';
import type { ConsentLedger } from './clients/consent.ts';
import type { LivenessQuery } from './clients/consent-messages.ts';
import type { App } from './domain/app.ts';
import {
  type AccessToken,
  type DescribedAccess,
  describeAccess,
  findActiveGrant,
  type GrantFacts,
  judgeAccessToken,
  type Liveness,
  toWorkingScopes,
} from './domain/token.ts';
import { findRefreshToken } from './refresh-tokens.ts';
import type { TokenStore } from './store/pg-tokens.ts';

/** The result of introspection for the gateway. */
export type Introspected =
  | { readonly status: 'dead' | 'unknown' }
  /** As in AccessToken. */
  | { readonly status: 'expired'; readonly jkt: string | null }
  | LiveToken;

/** A usable token. The caller judges whether consent covers an endpoint. */
export interface LiveToken {
  readonly status: 'live';
  readonly token: AccessToken;
  /** Null for an app's own token, and when the ledger did not answer. */
  readonly grant: GrantFacts | null;
  /** Signed assertion for health-data; null for an app's own token. */
  readonly assertion: string | null;
  /** False when the ledger did not answer. Then the record step decides, which refuses without the ledger. */
  readonly ledgerChecked: boolean;
}

/** Introspection by hash: one look-up here and one call to the ledger. */
export type Introspection = (hash: Uint8Array) => Promise<Introspected>;

const DEAD = { status: 'dead' } as const;

export function createIntrospection(dependencies: {
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly clock: Clock;
  readonly sign: AssertionSigner;
}): Introspection {
  const { tokens, ledger, clock, sign } = dependencies;

  async function checkLedger(token: AccessToken): Promise<Liveness | null> {
    try {
      return await ledger.checkLiveness({ ...token, tokenHash: token.hash });
    } catch (error) {
      // This error is not about the token. No data is released without a record, and the record step asks the ledger again.
      if (error instanceof AppError && (error.reason === 'unavailable' || error.reason === 'internal'))
        return null;
      throw error;
    }
  }

  return async (hash) => {
    const token = await tokens.findAccessToken(hash);
    if (token === null) return { status: 'unknown' };
    const state = judgeAccessToken(token, clock.now());
    if (state === 'expired') return { status: state, jkt: token.jkt };
    if (state !== 'live') return { status: state };
    const liveness = await checkLedger(token);
    if (liveness !== null && !isAlive(token, liveness)) return DEAD;
    const grant = token.userId === null ? null : (liveness?.grant ?? null);
    const assertion = await signAssertion(token, grant);
    return { status: 'live', token, grant, assertion, ledgerChecked: liveness !== null };
  };

  async function signAssertion(token: AccessToken, grant: GrantFacts | null): Promise<string | null> {
    const { userId, grantId, familyId, clientId, scopes, hash, expiresAt, jkt } = token;
    if (userId === null || grantId === null || familyId === null) return null;
    return sign({
      clientId,
      userId,
      grantId,
      familyId,
      scopes,
      tokenHash: Buffer.from(hash).toString('base64url'),
      tokenExpiresAt: Math.floor(expiresAt.getTime() / 1000),
      dataFrom: grant?.dataFrom ?? null,
      sub: grant?.sub ?? null,
      jkt,
    });
  }
}

/**
 * Whether the ledger considers the token alive. An expired grant leaves a live token that opens nothing (CONSENT_REQUIRED); a
 * revoked grant ends it.
 */
function isAlive(token: AccessToken, liveness: Liveness): boolean {
  if (!liveness.appAlive || !liveness.tokenAlive) return false;
  if (token.userId === null) return true;
  const { grant } = liveness;
  if (!liveness.familyAlive || grant === null) return false;
  return grant.status !== 'revoked' && grant.userId === token.userId;
}

/** An active token of the calling app. */
export interface OwnToken {
  readonly tokenType: 'access_token' | 'refresh_token';
  readonly clientId: string;
  /** The scopes that work now; never empty. */
  readonly scopes: readonly Scope[];
  /** As in AccessToken. */
  readonly askedWords: readonly string[];
  readonly issuedAt: Date;
  readonly expiresAt: Date;
  readonly grantId: string | null;
  /** Identifies the person to this app only; null for a userless token. */
  readonly sub: string | null;
  /** As in AccessToken; null for a refresh token. */
  readonly jkt: string | null;
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
) => Promise<{ readonly clientId: string; readonly token: (OwnToken & DescribedAccess) | null }>;

export function createOwnIntrospection(dependencies: {
  readonly clients: ClientAuthentication;
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly clock: Clock;
  readonly derivationKey: KeyObject;
  /** Address of the FHIR interface. */
  readonly fhirBase: string;
}): OwnIntrospection {
  const { clients, tokens, ledger, clock, fhirBase } = dependencies;

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
    const { clientId, issuedAt, expiresAt, grantId, jkt, askedWords } = token;
    return { tokenType: 'access_token', jkt, clientId, issuedAt, expiresAt, grantId, askedWords, ...working };
  }

  async function findRefresh(app: App, text: string): Promise<OwnToken | null> {
    const token = await findRefreshToken(dependencies, text);
    if (token === null || token.family.clientId !== app.clientId || token.usedForMs !== null) return null;
    const { family } = token;
    const { clientId, appEpoch, grantId, id: familyId, userId, expiresAt, askedWords } = family;
    const isDead = family.revokedAt !== null || family.suspended || expiresAt <= clock.now();
    if (isDead || appEpoch !== app.epoch) return null;
    const query = { clientId, appEpoch, grantId, familyId, tokenHash: null };
    // What a refresh would open.
    const working = await findWorking(query, { userId, scopes: family.grows ? SCOPE_NAMES : family.scopes });
    if (working === null) return null;
    const issuedAt = family.rotatedAt ?? family.createdAt;
    const own = { clientId, issuedAt, expiresAt, grantId, askedWords, ...working };
    return { tokenType: 'refresh_token', jkt: null, ...own };
  }

  return async (credentials, token) => {
    const app = await clients.authenticateConfidential(credentials);
    const { clientId } = app;
    return inNameOf(app, async () => {
      if (!token) throw invalidRequest('token', 'is required');
      const own = isSecret('access_token', token)
        ? await findAccess(app, sha256(token))
        : await findRefresh(app, token);
      return { clientId, token: own && { ...own, ...describeAccess(own, app, fhirBase) } };
    });
  };
}
