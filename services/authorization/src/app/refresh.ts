import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { deriveSecret, isSecret, sha256 } from '@phds/service-kit/secrets';
import type { App } from '../domain/app.ts';
import { parseRequestedScopes } from '../domain/authorization-request.ts';
import type { GrantFacts } from '../domain/liveness.ts';
import type { RefreshToken } from '../domain/token.ts';
import { judgeRefresh, toAccessExpiry, toFamilyExpiry, toWorkingScopes } from '../domain/token.ts';
import type { FamilyRevocation } from './family-revocation.ts';
import type { ConsentLedger, LockedRefreshToken, TokenStore } from './ports.ts';
import type { IssuedTokens, TokenGrant } from './token-grants.ts';
import {
  invalidGrant,
  ownInvalidGrant,
  requireLiveGrant,
  requireSeconds,
  requireWorkingScopes,
  toScopeText,
} from './token-grants.ts';

export interface RefreshDependencies {
  readonly tokens: TokenStore;
  readonly ledger: ConsentLedger;
  readonly revokeFamily: FamilyRevocation;
  readonly clock: Clock;
  /** Server key from which successors are derived. */
  readonly derivationKey: Uint8Array;
}

const ENDED = 'The refresh token has expired or was revoked.';

/**
 * The refresh_token grant (contract section 3). Every use rotates. The successor pair is derived from the old token and a server
 * key, so that a lost response can be repeated without storing tokens in plain text. All uses of a family are serialised by a lock
 * on its row.
 */
export function createRefresh(dependencies: RefreshDependencies): TokenGrant {
  const { tokens, clock, revokeFamily, derivationKey } = dependencies;

  return async (app, { refreshToken, scope }) => {
    if (!refreshToken) throw invalidRequest('refresh_token', 'is required');
    const known = await findOwn(tokens, app, refreshToken);
    // Without the lock, only final states are judged: dead, and used with an expired retry window.
    const first = judgeRefresh(known, '', clock.now());
    if (first === 'dead') throw ownInvalidGrant(ENDED);
    if (first === 'reuse') return punishReuse(revokeFamily, known);
    const grant = await requireLiveFamily(dependencies, known);
    requireWorkingScopes(known.scopes, grant);
    const scopes = scope ? parseRequestedScopes(scope, known.scopes) : known.scopes;
    const pair = derivePair(derivationKey, refreshToken);
    const wanted = { pair, scopes, requireAll: Boolean(scope), grant };
    const outcome = await tokens.withLockedRefreshToken(known.hash, (locked) =>
      move(locked, wanted, clock.now()),
    );
    // After the transaction, so that the ledger is updated first and no lock is held during the call.
    return outcome === 'reuse' ? punishReuse(revokeFamily, known) : outcome;
  };
}

async function findOwn(tokens: TokenStore, app: App, refreshToken: string): Promise<RefreshToken> {
  const wellFormed = isSecret('refresh_token', refreshToken);
  const known = wellFormed ? await tokens.findRefreshToken(sha256(refreshToken)) : null;
  if (known === null || known.family.clientId !== app.clientId) {
    throw invalidGrant('unknown or foreign refresh token');
  }
  if (known.family.appEpoch !== app.epoch)
    throw ownInvalidGrant('The app was revoked after the token was issued.');
  return known;
}

async function requireLiveFamily(
  { ledger }: RefreshDependencies,
  { family }: RefreshToken,
): Promise<GrantFacts> {
  const { clientId, appEpoch, grantId, id: familyId, userId } = family;
  return requireLiveGrant(ledger, { clientId, appEpoch, grantId, familyId }, userId);
}

async function punishReuse(revokeFamily: FamilyRevocation, token: RefreshToken): Promise<never> {
  await revokeFamily(token.family.id);
  throw ownInvalidGrant(
    'The refresh token was used before. It and the tokens that came from it are revoked.',
  );
}

/** Decides under the lock, by the token's current state. */
async function move(
  locked: LockedRefreshToken | null,
  wanted: Wanted,
  now: Date,
): Promise<IssuedTokens | 'reuse'> {
  if (locked === null) throw ownInvalidGrant(ENDED);
  const { token } = locked;
  switch (judgeRefresh(token, toScopeText(wanted.scopes), now)) {
    case 'rotate':
      return rotate(locked, wanted, now);
    case 'repeat':
      return repeat(locked, wanted, now);
    case 'other_scope':
      throw new AppError('invalid_scope', 'A repeated refresh has to ask for the same scope.');
    case 'reuse':
      return 'reuse';
    case 'dead':
      throw ownInvalidGrant(ENDED);
  }
}

async function rotate(locked: LockedRefreshToken, wanted: Wanted, now: Date): Promise<IssuedTokens> {
  const { clientId, appEpoch } = locked.token.family;
  const { pair, scopes, requireAll, grant } = wanted;
  // Checked only here: a repeat that names the same scopes gets its pair even if a scope has been withdrawn since.
  if (requireAll && toWorkingScopes(scopes, grant).length < scopes.length) {
    throw new AppError('invalid_scope', 'The scope exceeds what the person shares.');
  }
  const expiresAt = toAccessExpiry(now, grant.expiresAt);
  const answer = toAnswer(locked.token, wanted, expiresAt, now);
  const hash = sha256(pair.access);
  await locked.rotate({
    access: { hash, clientId, scopes, appEpoch, issuedAt: now, expiresAt },
    successorHash: sha256(pair.refresh),
    familyExpiresAt: toFamilyExpiry(now, grant.expiresAt),
    scope: toScopeText(scopes),
    now,
  });
  return answer;
}

async function repeat(locked: LockedRefreshToken, wanted: Wanted, now: Date): Promise<IssuedTokens> {
  const expiresAt = await locked.findAccessExpiry(sha256(wanted.pair.access));
  if (expiresAt === null) throw ownInvalidGrant(ENDED);
  return toAnswer(locked.token, wanted, expiresAt, now);
}

/** The successor tokens of one refresh token, in plain text. */
interface Pair {
  readonly access: string;
  readonly refresh: string;
}

interface Wanted {
  readonly pair: Pair;
  /** Scopes of the access token, including those that the grant has lost. */
  readonly scopes: RefreshToken['scopes'];
  /** Whether the request named these scopes; a first use is then refused if one of them does not work. */
  readonly requireAll: boolean;
  readonly grant: GrantFacts;
}

function derivePair(key: Uint8Array, refreshToken: string): Pair {
  return {
    access: deriveSecret('access_token', key, 'refresh:access', refreshToken),
    refresh: deriveSecret('refresh_token', key, 'refresh:refresh', refreshToken),
  };
}

function toAnswer(
  token: RefreshToken,
  { pair, scopes, grant }: Wanted,
  expiresAt: Date,
  now: Date,
): IssuedTokens {
  return {
    accessToken: pair.access,
    expiresInSeconds: requireSeconds(expiresAt, now),
    refreshToken: pair.refresh,
    scope: toScopeText(requireWorkingScopes(scopes, grant)),
    grantId: token.family.grantId,
  };
}
