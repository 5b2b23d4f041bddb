import type { Listed, Page } from '@phds/catalog/pagination';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { isId, newId } from '@phds/service-kit/ids';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import type { ConsentLedger } from './clients/consent.ts';
import type { AppCommand } from './clients/consent-messages.ts';
import type { KeySource } from './clients/key-source.ts';
import {
  APPROVED_SETTINGS,
  type App,
  type AppLock,
  type ApplicationType,
  type AppSettings,
  type AppStatus,
  type ChangedState,
  type KeyFetch,
  type PublicApps,
} from './domain/app.ts';
import {
  parseChange,
  parseRegistration,
  type SettingsChange,
  type SettingsInput,
} from './domain/app-settings.ts';
import { toRedirectHost } from './domain/redirect-uri.ts';
import type { AppStore, SecretTrace } from './store/postgres-apps.ts';

/** A new secret of an app in plain text, returned only once. */
export interface IssuedSecret {
  readonly clientSecret: string;
  readonly secretLast4: string;
}

export interface RotatedSecret extends IssuedSecret {
  readonly rotatedAt: Date;
}

export interface RegisteredApp {
  readonly app: App;
  /** In plain text, returned only once; null for an app that authenticates itself with its key, or not at all. */
  readonly clientSecret: string | null;
}

/** Developers' apps. `ownerId` is the session's user. Other people's apps are not found. */
export interface Apps {
  /** Registers an app. Throws `invalid_request`, `conflict` (too many). */
  register(ownerId: string, input: SettingsInput, applicationType: ApplicationType): Promise<RegisteredApp>;
  list(ownerId: string, page: Page): Promise<Listed<App>>;
  get(ownerId: string, clientId: string): Promise<App>;
  /** Replaces the fields that were sent. */
  update(ownerId: string, clientId: string, input: SettingsInput): Promise<App>;
  /**
   * Issues a new secret. The old one fails once this returns. Throws `app_not_active` for a revoked app, `conflict` for one that
   * authenticates itself with its key.
   */
  rotateSecret(ownerId: string, clientId: string): Promise<RotatedSecret>;
  /**
   * Sets the status, in effect everywhere when it returns. A repeat completes an interrupted change. Throws `conflict` for `active`
   * while an operator has locked the app.
   */
  setStatus(ownerId: string, clientId: string, status: AppStatus): Promise<StatusChange>;
}

export interface StatusChange {
  readonly status: AppStatus;
  readonly statusChangedAt: Date;
}

export interface AppsDependencies {
  readonly apps: AppStore;
  readonly ledger: ConsentLedger;
  readonly keySource: Pick<KeySource, 'mayFetch'>;
  readonly clock: Clock;
  /** The public address of the service. */
  readonly issuer: string;
  readonly maxAppsPerDeveloper: number;
  /** Whether an operator approves each app before people see it. */
  readonly needsApproval: boolean;
  readonly publicApps: PublicApps;
}

export function createApps(dependencies: AppsDependencies): Apps {
  const { apps, ledger } = dependencies;

  async function get(ownerId: string, clientId: string): Promise<App> {
    const app = isId('app', clientId) ? await apps.findApp(clientId) : null;
    if (app === null || app.ownerId !== ownerId) throw notFound();
    return app;
  }

  async function setStatus(app: App, status: AppStatus): Promise<StatusChange> {
    const refuseLocked = (lock: AppLock | null) => {
      if (status === 'active' && lock !== null) throw locked(lock);
    };
    // The ledger refuses too. This copy counts as well, because a restored ledger may lack the lock.
    refuseLocked(app.lock);
    const set = (at: AppCommand) => ledger.setAppStatus({ ...at, status });
    const { statusChangedAt } = await changeInLedger(dependencies, app, set, (state) => {
      refuseLocked(state.lock);
      return state.status === status;
    });
    return { status, statusChangedAt };
  }

  return {
    get,

    list: (ownerId, page) => apps.listApps({ ownerId, lockKind: null }, page),

    register: (ownerId, input, applicationType) => register(dependencies, ownerId, input, applicationType),

    update: (ownerId, clientId, input) =>
      apps.alone(clientId, async () => {
        const app = await changeSettings(dependencies, () => get(ownerId, clientId), input);
        // Only the public profile is copied. If this fails, repeating the same update repairs it.
        await ledger.putApp(app);
        return app;
      }),

    rotateSecret: (ownerId, clientId) =>
      apps.alone(clientId, async () => {
        const { tokenEndpointAuthMethod } = await get(ownerId, clientId);
        if (tokenEndpointAuthMethod !== 'client_secret_basic') throw withoutSecret(tokenEndpointAuthMethod);
        return rotateSecret(dependencies, clientId);
      }),

    setStatus: (ownerId, clientId, status) =>
      apps.alone(clientId, async () => setStatus(await get(ownerId, clientId), status)),
  };
}

/** Changes are judged by the settings that they change, so one that another change has overtaken is judged again. */
async function changeSettings(
  dependencies: AppsDependencies,
  read: () => Promise<App>,
  input: SettingsInput,
): Promise<App> {
  const { apps, clock, publicApps } = dependencies;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const known = await read();
    const change = parseChange(input, known, clock.now(), publicApps);
    refuseKeyPlace(dependencies, change);
    refuseOwnHost(dependencies, change, known.redirectUris);
    await awaitApprovalOf(dependencies, known, change);
    if (Object.keys(change).length === 0) return known;
    const app = await apps.updateSettings(known, change, clock.now());
    if (app !== null) return app;
  }
  throw new AppError('conflict', 'The app is being changed by another request.');
}

/** An app that answers at the host of this service would look like it. */
function refuseOwnHost(
  { issuer }: AppsDependencies,
  { redirectUris = [] }: SettingsChange,
  known: readonly string[] = [],
): void {
  const own = toRedirectHost(issuer);
  const index = redirectUris.findIndex((uri) => !known.includes(uri) && toRedirectHost(uri) === own);
  if (index === -1) return;
  throw invalidRequest('redirectUris', `entry ${index + 1} must not be an address of this service`);
}

function refuseKeyPlace({ keySource }: AppsDependencies, { jwksUri = '' }: SettingsChange): void {
  if (jwksUri === '' || keySource.mayFetch(jwksUri)) return;
  throw invalidRequest('jwksUri', 'must not name a private or reserved address');
}

function withoutSecret(method: 'private_key_jwt' | 'none'): AppError {
  return new AppError(
    'conflict',
    method === 'none'
      ? 'A public app has no secret.'
      : 'The app authenticates itself with its key (private_key_jwt) and has no secret. Set tokenEndpointAuthMethod to client_secret_basic first.',
  );
}

const APPROVAL = { kind: 'approval', reason: '' } as const;

/** An approval is for what the app says of itself and may ask for: whatever of it changes waits for another one. */
async function awaitApprovalOf(
  dependencies: AppsDependencies,
  app: App,
  change: SettingsChange,
): Promise<void> {
  if (!dependencies.needsApproval) return;
  const changed = APPROVED_SETTINGS.filter(
    (field) => field in change && JSON.stringify(change[field]) !== JSON.stringify(app[field]),
  );
  if (changed.length === 0) return;
  if (app.status === 'active') {
    const message = 'was approved; suspend the app to change it, and it waits for another approval';
    throw invalidRequest(changed.map((parameter) => ({ parameter, message })));
  }
  // Also where our copy has a lock: an operator may have lifted it in the ledger alone, where the next change of status would find that.
  const lock = (at: AppCommand) => dependencies.ledger.setAppLock({ ...at, lock: app.lock ?? APPROVAL });
  await changeInLedger(dependencies, app, lock, (state) => state.lock !== null);
}

/** Why an app cannot become active. */
function locked({ kind, reason }: AppLock): AppError {
  return new AppError(
    'conflict',
    kind === 'approval'
      ? 'The app waits for the approval of an operator.'
      : `An operator has suspended the app, and only an operator can lift this. Reason: ${reason}`,
  );
}

async function rotateSecret({ apps, clock }: AppsDependencies, clientId: string): Promise<RotatedSecret> {
  const { clientSecret, trace } = makeSecret();
  const rotatedAt = clock.now();
  if (await apps.replaceSecret(clientId, trace, rotatedAt))
    return { clientSecret, secretLast4: trace.last4, rotatedAt };
  throw new AppError('app_not_active', 'The app is revoked; set it active first.');
}

async function register(
  dependencies: AppsDependencies,
  ownerId: string,
  input: SettingsInput,
  applicationType: ApplicationType,
): Promise<RegisteredApp> {
  const { apps, maxAppsPerDeveloper: limit, needsApproval: waits, publicApps } = dependencies;
  const settings = parseRegistration(input, applicationType, publicApps);
  refuseKeyPlace(dependencies, settings);
  refuseOwnHost(dependencies, settings);
  if ((await apps.countApps(ownerId)) >= limit) throw tooMany(limit);
  const made = settings.tokenEndpointAuthMethod === 'client_secret_basic' ? makeSecret() : null;
  const identity = { clientId: newId('app'), ownerId, applicationType };
  const named = { ...settings, ...identity };
  const app = await putNewApp(dependencies, named, made?.trace ?? null, { limit, waits });
  if (app === null) throw tooMany(limit);
  return { app, clientSecret: made?.clientSecret ?? null };
}

/**
 * Stores a new app, first in the ledger: an app only known to the ledger is harmless, but an app unknown to the ledger could never be
 * revoked. `waits` locks it until its approval. Null if the owner already has `limit` apps.
 */
export async function putNewApp(
  { apps, ledger, clock }: Pick<AppsDependencies, 'apps' | 'ledger' | 'clock'>,
  named: AppSettings & KeyFetch & Pick<App, 'clientId' | 'ownerId' | 'applicationType'>,
  secret: SecretTrace | null,
  { limit, waits }: { readonly limit: number; readonly waits: boolean },
): Promise<App | null> {
  const now = clock.now();
  const profile = { ...named, updatedAt: now };
  const put = await ledger.putApp(profile);
  const at = { clientId: named.clientId, expectedRevision: put.revision, known: put };
  const { lock, ...state } = waits
    ? await ledger.setAppLock({ ...at, lock: APPROVAL })
    : { ...put, lock: null };
  const app: App = {
    ...profile,
    status: state.status,
    epoch: state.epoch,
    ledgerRevision: state.revision,
    statusChangedAt: now,
    lock,
    secretLast4: secret?.last4 ?? '',
    createdAt: now,
  };
  return (await apps.insertApp(app, secret, limit)) ? app : null;
}

function makeSecret(): { clientSecret: string; trace: SecretTrace } {
  const clientSecret = newSecret('client_secret');
  return { clientSecret, trace: toTrace(clientSecret) };
}

/** What is stored of a secret. */
export function toTrace(clientSecret: string): SecretTrace {
  return { hash: sha256(clientSecret), last4: clientSecret.slice(-4) };
}

function tooMany(limit: number): AppError {
  return new AppError('conflict', `A developer may have at most ${limit} apps.`);
}

// A concurrent change costs one attempt; changes of one app are rare.
const ATTEMPTS = 5;

/**
 * Changes an app in the ledger, then in our copy, until `isDone` is true of the ledger's state. It may throw to give up. The ledger
 * is called even when nothing seems to change, so that a repeat completes a change that crashed between the two stores.
 */
export async function changeInLedger(
  { apps }: { readonly apps: Pick<AppStore, 'applyLedgerState'> },
  { clientId, epoch, ledgerRevision }: Pick<App, 'clientId' | 'epoch' | 'ledgerRevision'>,
  change: (command: AppCommand) => Promise<ChangedState>,
  isDone: (state: ChangedState) => boolean,
): Promise<ChangedState> {
  const known = { epoch, revision: ledgerRevision };
  let expectedRevision = ledgerRevision;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const state = await change({ clientId, expectedRevision, known });
    await apps.applyLedgerState(clientId, state);
    // A restored ledger may have the wanted state from before, at a revision that is ignored here.
    const isBehind = state.revision < known.revision || state.epoch < known.epoch;
    if (isDone(state) && !isBehind) return state;
    expectedRevision = state.revision;
  }
  throw new AppError('conflict', 'The status is being changed by another request.');
}
