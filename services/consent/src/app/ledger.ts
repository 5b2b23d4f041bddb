import { notFound } from '@phds/service-kit/errors';
import type { AppStanding, ReportedApp } from '../domain/app.ts';
import type { Liveness, LivenessQuery } from '../domain/liveness.ts';
import type { AppStore, EvictionPublisher, LivenessStore, RevocationStore, StatusCommand } from './ports.ts';

/** The one truth about what is alive (contract section 8). Each write is effective when it answers, and may be repeated. */
export interface Ledger {
  putApp(app: ReportedApp): Promise<AppStanding>;
  /** Leaves an app alone that does not stand at the expected revision. */
  setAppStatus(command: StatusCommand): Promise<AppStanding>;
  revokeFamily(familyId: string, expiresAt: Date): Promise<void>;
  revokeToken(tokenHash: Uint8Array, expiresAt: Date): Promise<void>;
  checkLiveness(query: LivenessQuery): Promise<Liveness>;
}

export function createLedger(dependencies: {
  readonly apps: Pick<AppStore, 'put'>;
  /** Apart from `apps`, so that it can have connections of its own. */
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
      // Also when nothing changed: a repeat finishes what a crash interrupted.
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
