import type { KeyObject } from 'node:crypto';
import type { Clock } from '@phds/service-kit/clock';
import { deriveSecret, isSecret, sha256 } from '@phds/service-kit/secrets';
import { KEPT_GENERATIONS, type RefreshToken, toFamilyHorizon } from '../domain/token.ts';
import type { ConsentLedger, TokenStore } from './ports.ts';

/** The successor tokens of one refresh token, in plain text. */
export interface Pair {
  readonly access: string;
  readonly refresh: string;
}

/**
 * Derives the successors of a refresh token from the token and a server key. Workers of an app that refresh at the same time with
 * different keys get the same refresh token, and access tokens of their own.
 */
export function derivePair(key: KeyObject, refreshToken: string, jkt: string | null): Pair {
  const input = jkt === null ? refreshToken : `${refreshToken}\0${jkt}`;
  return {
    access: deriveSecret('access_token', key, 'refresh:access', input),
    refresh: deriveRefresh(key, refreshToken),
  };
}

function deriveRefresh(key: KeyObject, refreshToken: string): string {
  return deriveSecret('refresh_token', key, 'refresh:refresh', refreshToken);
}

export interface LineageDependencies {
  readonly tokens: Pick<TokenStore, 'findRefreshToken' | 'findAnyRefreshToken'>;
  readonly derivationKey: KeyObject;
}

/**
 * Finds a refresh token, also a used one whose row has been removed: its successors are derived from it, and one of the next
 * KEPT_GENERATIONS is stored as long as the family is. Such a token reads as used long ago. Null for an unknown one, after a look-up
 * and one more for all successors.
 */
export async function findInLineage(
  { tokens, derivationKey }: LineageDependencies,
  refreshToken: string,
): Promise<RefreshToken | null> {
  if (!isSecret('refresh_token', refreshToken)) return null;
  const hash = sha256(refreshToken);
  const known = await tokens.findRefreshToken(hash);
  if (known !== null) return known;
  const hashes: Uint8Array[] = [];
  let successor = refreshToken;
  while (hashes.length < KEPT_GENERATIONS) {
    successor = deriveRefresh(derivationKey, successor);
    hashes.push(sha256(successor));
  }
  const descendant = await tokens.findAnyRefreshToken(hashes);
  if (descendant === null) return null;
  return { ...descendant, hash, usedForMs: Number.POSITIVE_INFINITY, successorUsed: true };
}

/**
 * Revokes a token family, first in the ledger and then in our own tables. The ledger applies everywhere, so a crash in between
 * cannot leave the family alive. Throws `unavailable` when the revocation may not be durable. Idempotent.
 */
export type FamilyRevocation = (familyId: string) => Promise<void>;

export function createFamilyRevocation(dependencies: {
  readonly ledger: ConsentLedger;
  readonly tokens: TokenStore;
  readonly clock: Clock;
}): FamilyRevocation {
  const { ledger, tokens, clock } = dependencies;
  return async (familyId) => {
    const now = clock.now();
    await ledger.revokeFamily(familyId, toFamilyHorizon(now));
    await tokens.markFamilyRevoked(familyId, now);
  };
}
