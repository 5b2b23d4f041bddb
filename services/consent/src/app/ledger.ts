import { notFound } from '@phds/service-kit/errors';
import type { AppStanding, ReportedApp } from '../domain/app.ts';
import type { Liveness, LivenessQuery } from '../domain/liveness.ts';
import type { AppStore, EvictionPublisher, LivenessStore, RevocationStore, StatusCommand } from './ports.ts';

/** The authority on what is live (contract section 8). Each write is in effect when it returns and may be repeated. */
export interface Ledger {
  putApp(app: ReportedApp): Promise<AppStanding>;
  /** Does nothing if the app is not at the expected revision. */
  setAppStatus(command: StatusCommand): Promise<AppStanding>;
  revokeFamily(familyId: string, expiresAt: Date): Promise<void>;
  revokeToken(tokenHash: Uint8Array, expiresAt: Date): Promise<void>;
  checkLiveness(query: LivenessQuery): Promise<Liveness>;
}

export function createLedger(dependencies: {
  readonly apps: Pick<AppStore, 'put'>;
  /** Separate from `apps`, so that it can use its own connections. */
  readonly statuses: Pick<AppStore, 'setStatus'>;
  readonly revocations: RevocationStore;
  readonly liveness: LivenessStore;
  readonly evictions: EvictionPublisher;
}): Ledger {
  const { apps, statuses, revocations, liveness, evictions } = dependencies;
  return {
    putApp: (app) => apps.put(app),
    async setAppStatus(command) {
      const standing = await statuses.setStatus(command);
      if (standing === null) throw notFound();
      // Published even when nothing changed, because the first attempt may have crashed before publishing.
      evictions.publish({ case: 'clientId', value: command.clientId });
      return standing;
    },
    async revokeFamily(familyId, expiresAt) {
      await revocations.revokeFamily(familyId, expiresAt);
      evictions.publish({ case: 'familyId', value: familyId });
    },
    async revokeToken(tokenHash, expiresAt) {
      await revocations.revokeToken(tokenHash, expiresAt);
      evictions.publish({ case: 'tokenHash', value: tokenHash });
    },
    checkLiveness: (query) => liveness.check(query),
  };
}
