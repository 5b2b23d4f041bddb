import type { Clock } from '@phds/service-kit/clock';
import { toFamilyHorizon } from '../domain/token.ts';
import type { ConsentLedger, TokenStore } from './ports.ts';

/**
 * Ends a token family. The ledger first and the own tables second: what the ledger has is dead everywhere, so no crash in
 * between leaves it alive. Throws `unavailable` when it could not be made durable. Idempotent.
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
