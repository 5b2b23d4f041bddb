import { notFound } from '@phds/service-kit/errors';
import type { AppState, ReportedApp } from '../domain/app.ts';
import type { Liveness, LivenessQuery } from '../domain/liveness.ts';
import type {
  AppStore,
  EvictionPublisher,
  LivenessStore,
  LockCommand,
  RevocationStore,
  StatusCommand,
} from './ports.ts';

/** The authority on what is live. Each write is in effect when it returns and may be repeated. */
export interface Ledger {
  putApp(app: ReportedApp): Promise<AppState>;
  /** Does nothing if the app is not at the expected revision. */
  setAppStatus(command: StatusCommand): Promise<AppState>;
  /** Does nothing if the app is not at the expected revision. */
  setAppLock(command: LockCommand): Promise<AppState>;
  /** Throws `not_found`. */
  setAppOwner(clientId: string, ownerId: string): Promise<void>;
  revokeFamily(familyId: string, expiresAt: Date): Promise<void>;
  revokeToken(tokenHash: Uint8Array, expiresAt: Date): Promise<void>;
  checkLiveness(query: LivenessQuery): Promise<Liveness>;
}

export function createLedger(dependencies: {
  readonly apps: Pick<AppStore, 'put'>;
  /** Separate from `apps`, so that it can use its own connections. */
  readonly statuses: Pick<AppStore, 'setStatus' | 'setLock' | 'setOwner'>;
  readonly revocations: RevocationStore;
  readonly liveness: LivenessStore;
  readonly evictions: EvictionPublisher;
}): Ledger {
  const { apps, statuses, revocations, liveness, evictions } = dependencies;

  function toChanged(clientId: string, state: AppState | null): AppState {
    if (state === null) throw notFound();
    // Published even when nothing changed, because the first attempt may have crashed before publishing.
    evictions.publish({ case: 'clientId', value: clientId });
    return state;
  }

  return {
    putApp: (app) => apps.put(app),
    setAppStatus: async (command) => toChanged(command.clientId, await statuses.setStatus(command)),
    setAppLock: async (command) => toChanged(command.clientId, await statuses.setLock(command)),
    async setAppOwner(clientId, ownerId) {
      if (!(await statuses.setOwner(clientId, ownerId))) throw notFound();
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
