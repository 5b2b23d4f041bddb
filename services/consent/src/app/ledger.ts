import { notFound } from '@phds/service-kit/errors';
import type { AppStanding, ReportedApp } from '../domain/app.ts';
import type { Liveness, LivenessQuery } from '../domain/liveness.ts';
import type {
  AppLedger,
  CredentialLedger,
  EvictionPublisher,
  LivenessReader,
  StatusCommand,
} from './ports.ts';

/** The one truth about what is alive (contract section 8). Each write is effective when it answers, and may be repeated. */
export interface Ledger {
  putApp(app: ReportedApp): Promise<AppStanding>;
  /** Leaves an app alone that does not stand at the expected revision. */
  setAppStatus(command: StatusCommand): Promise<AppStanding>;
  revokeFamily(familyId: string, expiresAt: Date): Promise<void>;
  revokeToken(tokenHash: Uint8Array, expiresAt: Date): Promise<void>;
  checkLiveness(query: LivenessQuery): Promise<Liveness>;
}

export function createLedger(ports: {
  readonly apps: Pick<AppLedger, 'put'>;
  /** Apart from `apps`, so that it can have connections of its own. */
  readonly statuses: Pick<AppLedger, 'setStatus'>;
  readonly credentials: CredentialLedger;
  readonly liveness: LivenessReader;
  readonly evictions: EvictionPublisher;
}): Ledger {
  const { apps, statuses, credentials, liveness, evictions } = ports;
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
      await credentials.revokeFamily(familyId, expiresAt);
      evictions.publish({ case: 'familyId', value: familyId });
    },
    async revokeToken(tokenHash, expiresAt) {
      await credentials.revokeToken(tokenHash, expiresAt);
      evictions.publish({ case: 'tokenHash', value: tokenHash });
    },
    checkLiveness: (query) => liveness.check(query),
  };
}
