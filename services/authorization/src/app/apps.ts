import { SECRET_OVERLAP_MAX_SECONDS } from '@phds/catalog/lifetimes';
import type { Listed, Page } from '@phds/catalog/pagination';
import { type Environment, SANDBOX_APP_PREFIX } from '@phds/catalog/sandbox';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { isId, newId } from '@phds/service-kit/ids';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import { type App, type AppStatus, withoutEndedSecret } from '../domain/app.ts';
import type { SettingsInput } from '../domain/app-settings.ts';
import { parseChange, parseRegistration } from '../domain/app-settings.ts';
import { addSeconds } from '../domain/token.ts';
import type { AppStore, ConsentLedger, ReplacedSecret, SecretTrace } from './ports.ts';

/** A new secret of an app in plain text, returned only once. */
export interface IssuedSecret {
  readonly clientSecret: string;
  readonly secretLast4: string;
}

export interface RotatedSecret extends IssuedSecret, ReplacedSecret {
  readonly rotatedAt: Date;
}

/** Developers' apps (contract section 4). `ownerId` is the session's user. Other people's apps are not found. */
export interface Apps {
  /** Registers an app. Throws `invalid_request`, `conflict` (too many). */
  register(
    ownerId: string,
    input: SettingsInput,
    environment: Environment,
  ): Promise<IssuedSecret & { app: App }>;
  list(ownerId: string, page: Page): Promise<Listed<App>>;
  get(ownerId: string, clientId: string): Promise<App>;
  /** Replaces the fields that were sent. */
  update(ownerId: string, clientId: string, input: SettingsInput): Promise<App>;
  /**
   * Issues a new secret. The old one works for another `overlapSeconds`, or fails once this returns. Throws `invalid_request` for a
   * longer overlap than allowed, `app_not_active` for a revoked app.
   */
  rotateSecret(ownerId: string, clientId: string, overlapSeconds: number): Promise<RotatedSecret>;
  /** Sets the status, in effect everywhere when it returns. A repeat completes an interrupted change. */
  setStatus(ownerId: string, clientId: string, status: AppStatus): Promise<StatusChange>;
}

export interface StatusChange {
  readonly status: AppStatus;
  readonly statusChangedAt: Date;
}

export interface AppsDependencies {
  readonly apps: AppStore;
  readonly ledger: ConsentLedger;
  readonly clock: Clock;
  readonly maxAppsPerDeveloper: number;
}

// A concurrent change costs one attempt; changes of one app are rare.
const STATUS_ATTEMPTS = 5;

export function createApps(dependencies: AppsDependencies): Apps {
  const { apps, ledger, clock } = dependencies;

  async function get(ownerId: string, clientId: string): Promise<App> {
    const app = isId('app', clientId) ? await apps.findApp(clientId) : null;
    if (app === null || app.ownerId !== ownerId) throw notFound();
    return withoutEndedSecret(app, clock.now());
  }

  return {
    get,

    async list(ownerId, page) {
      const { items, total } = await apps.listApps(ownerId, page);
      const now = clock.now();
      return { items: items.map((app) => withoutEndedSecret(app, now)), total };
    },

    register: (ownerId, input, environment) => register(dependencies, ownerId, input, environment),

    async update(ownerId, clientId, input) {
      const known = await get(ownerId, clientId);
      const change = parseChange(input, known);
      const changed = Object.keys(change).length > 0;
      const app = changed ? await apps.updateSettings(clientId, ownerId, change, clock.now()) : known;
      if (app === null) throw notFound();
      // Only the public profile is copied. If this fails, repeating the same update repairs it.
      await ledger.putApp(app);
      return withoutEndedSecret(app, clock.now());
    },

    async rotateSecret(ownerId, clientId, overlapSeconds) {
      await get(ownerId, clientId);
      return rotateSecret(dependencies, clientId, overlapSeconds);
    },

    async setStatus(ownerId, clientId, status) {
      const { epoch, ledgerRevision, ...app } = await get(ownerId, clientId);
      const known = { epoch, revision: ledgerRevision };
      let expectedRevision = ledgerRevision;
      for (let attempt = 0; attempt < STATUS_ATTEMPTS; attempt += 1) {
        // Called even when nothing seems to change, so that a repeat completes a change that crashed between the two stores.
        const state = await ledger.setAppStatus({ clientId, status, expectedRevision, known });
        const statusChangedAt = state.statusChangedAt ?? app.statusChangedAt;
        await apps.applyLedgerState(clientId, { ...state, statusChangedAt });
        // A restored ledger may have this status from before, at a revision that is ignored here.
        const isBehind = state.revision < known.revision || state.epoch < known.epoch;
        if (state.status === status && !isBehind) return { status, statusChangedAt };
        expectedRevision = state.revision;
      }
      throw new AppError('conflict', 'The status is being changed by another request.');
    },
  };
}

async function rotateSecret(
  { apps, clock }: AppsDependencies,
  clientId: string,
  overlapSeconds: number,
): Promise<RotatedSecret> {
  if (overlapSeconds > SECRET_OVERLAP_MAX_SECONDS) {
    throw invalidRequest('overlapSeconds', `must be at most ${SECRET_OVERLAP_MAX_SECONDS}`);
  }
  const { clientSecret, trace } = makeSecret();
  const rotatedAt = clock.now();
  const keptUntil = overlapSeconds === 0 ? null : addSeconds(rotatedAt, overlapSeconds);
  const replaced = await apps.replaceSecret(clientId, trace, rotatedAt, keptUntil);
  if (replaced === null) throw new AppError('app_not_active', 'The app is revoked; set it active first.');
  return { clientSecret, secretLast4: trace.last4, rotatedAt, ...replaced };
}

async function register(
  { apps, ledger, clock, maxAppsPerDeveloper }: AppsDependencies,
  ownerId: string,
  input: SettingsInput,
  environment: Environment,
): Promise<IssuedSecret & { app: App }> {
  const settings = parseRegistration(input);
  if ((await apps.countApps(ownerId)) >= maxAppsPerDeveloper) throw tooMany(maxAppsPerDeveloper);
  const now = clock.now();
  const profile = { ...settings, clientId: newClientId(environment), ownerId, updatedAt: now };
  // The ledger first: an app only known to the ledger is harmless, but an app unknown to the ledger could never be revoked.
  const { status, epoch, revision } = await ledger.putApp(profile);
  const { clientSecret, trace } = makeSecret();
  const app: App = {
    ...profile,
    status,
    epoch,
    ledgerRevision: revision,
    statusChangedAt: now,
    secretLast4: trace.last4,
    previousSecretLast4: '',
    previousSecretExpiresAt: null,
    createdAt: now,
  };
  if (!(await apps.insertApp(app, trace, maxAppsPerDeveloper))) throw tooMany(maxAppsPerDeveloper);
  return { app, clientSecret, secretLast4: trace.last4 };
}

function newClientId(environment: Environment): string {
  return newId(environment === 'sandbox' ? SANDBOX_APP_PREFIX.slice(0, -1) : 'app');
}

function makeSecret(): { clientSecret: string; trace: SecretTrace } {
  const clientSecret = newSecret('client_secret');
  return { clientSecret, trace: { hash: sha256(clientSecret), last4: clientSecret.slice(-4) } };
}

function tooMany(limit: number): AppError {
  return new AppError('conflict', `A developer may have at most ${limit} apps.`);
}
