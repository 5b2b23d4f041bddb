import type { KeyObject } from 'node:crypto';
import type { Clock } from '@phds/service-kit/clock';
import { toFamilyHorizon } from '../domain/token.ts';
import type { ConsentLedger, TokenStore } from './ports.ts';
import { findClaimed, type RefreshToken, verifyClaimed } from './refresh-token.ts';

/** Finds a refresh token, also a used one. Null for an unknown or forged one. */
export async function findRefreshToken(
  {
    tokens,
    derivationKey,
  }: { readonly tokens: Pick<TokenStore, 'findFamily'>; readonly derivationKey: KeyObject },
  text: string,
): Promise<RefreshToken | null> {
  const claimed = findClaimed(text);
  const family = claimed && (await tokens.findFamily(claimed.familyId));
  return claimed && family && verifyClaimed(derivationKey, claimed, family);
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
