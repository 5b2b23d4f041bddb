import type { GrantStore, LivenessStore } from './ports.ts';

/** What an app may have now. */
export interface Shared {
  readonly grantId: string;
  readonly expiresAt: Date;
  readonly dataFrom: string | null;
}

/** Whether a person shares a scope with an app now; null if not. The ledger judges, as for each token. */
export type Sharing = (userId: string, clientId: string, scope: string) => Promise<Shared | null>;

const NO_TOKEN = { familyId: '', tokenHash: new Uint8Array(), issuedAt: null } as const;

export function createSharing({
  grants,
  liveness,
}: {
  readonly grants: Pick<GrantStore, 'findOpen'>;
  readonly liveness: LivenessStore;
}): Sharing {
  return async (userId, clientId, scope) => {
    const open = await grants.findOpen(userId, clientId);
    if (open === null) return null;
    const { id: grantId, appEpoch } = open;
    const { appAlive, grant } = await liveness.check({ clientId, appEpoch, grantId, ...NO_TOKEN });
    const isShared =
      appAlive && grant?.status === 'active' && grant.scopes.some((shared) => shared === scope);
    return isShared ? { grantId, expiresAt: grant.expiresAt, dataFrom: grant.dataFrom } : null;
  };
}
