import type { Clock } from '@phds/service-kit/clock';
import { AppError } from '@phds/service-kit/errors';
import type { GrantFacts, Liveness } from '../domain/liveness.ts';
import type { AccessToken } from '../domain/token.ts';
import { judgeAccessToken } from '../domain/token.ts';
import type { ConsentLedger, SignAssertion, TokenStore } from './ports.ts';

/** The result of introspection for the gateway. */
export type Introspected = { readonly status: 'expired' | 'dead' | 'unknown' } | LiveToken;

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
  readonly sign: SignAssertion;
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
    const standing = judgeAccessToken(token, clock.now());
    if (standing !== 'live') return { status: standing };
    const liveness = await checkLedger(token);
    if (liveness !== null && !isAlive(token, liveness)) return DEAD;
    const grant = token.userId === null ? null : (liveness?.grant ?? null);
    const assertion = await vouchFor(token, grant?.dataFrom ?? null);
    return { status: 'live', token, grant, assertion, ledgerChecked: liveness !== null };
  };

  async function vouchFor(token: AccessToken, dataFrom: string | null): Promise<string | null> {
    const { userId, grantId, familyId, clientId, scopes, hash, expiresAt } = token;
    if (userId === null || grantId === null || familyId === null) return null;
    return sign({
      clientId,
      userId,
      grantId,
      familyId,
      scopes,
      tokenHash: Buffer.from(hash).toString('base64url'),
      tokenExpiresAt: Math.floor(expiresAt.getTime() / 1000),
      dataFrom,
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
