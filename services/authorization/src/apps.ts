import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Page } from '@phds/catalog/pagination';
import {
  AppLockKindSchema,
  AppProfileSchema,
  AppStatusSchema,
  SetAppLockRequestSchema,
  SetAppStatusRequestSchema,
  type SetAppStatusResponse,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { isId, newId } from '@phds/service-kit/ids';
import { toMessage } from '@phds/service-kit/rpc/messages';
import { newSecret, sha256 } from '@phds/service-kit/secrets';
import {
  APPROVED_SETTINGS,
  type App,
  type ApplicationType,
  type AppStore,
  type LedgerState,
  lockOf,
  type PublicApps,
  type StoredSecret,
} from './app.ts';
import { parseChange, parseRegistration, type SettingsChange, type SettingsInput } from './app-settings.ts';
import { type ConsentLedger, toDate, toName } from './clients/consent.ts';
import type { KeySource } from './key-fetching.ts';
import { toRedirectHost } from './redirect-uri.ts';

export type Apps = ReturnType<typeof createApps>;

interface AppsDependencies {
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

/** Developers' apps. `ownerId` is the session's user. Other people's apps are not found. */
export function createApps(dependencies: AppsDependencies) {
  const { apps, ledger } = dependencies;

  async function get(ownerId: string, clientId: string): Promise<App> {
    const app = isId('app', clientId) ? await apps.findApp(clientId) : null;
    if (app === null || app.ownerId !== ownerId) throw notFound();
    return app;
  }

  async function setStatus(app: App, status: App['status']): Promise<LedgerState> {
    const refuseLocked = (state: LedgerState) => {
      const lock = lockOf(state);
      if (status === 'active' && lock !== null) throw locked(lock);
    };
    // The ledger refuses too. This copy counts as well, because a restored ledger may lack the lock.
    refuseLocked(app);
    const set = (at: AppCommand) =>
      ledger.setAppStatus(toMessage(SetAppStatusRequestSchema, { ...at, status }));
    return changeInLedger(dependencies, app, set, (state) => {
      refuseLocked(state);
      return state.status === status;
    });
  }

  return {
    get,

    list: (ownerId: string, page: Page) => apps.listApps({ ownerId, lockKind: null }, page),

    register: (ownerId: string, input: SettingsInput, applicationType: ApplicationType) =>
      register(dependencies, ownerId, input, applicationType),

    /** Replaces the fields that were sent. */
    update: (ownerId: string, clientId: string, input: SettingsInput): Promise<App> =>
      apps.alone(clientId, async () => {
        const app = await changeSettings(dependencies, () => get(ownerId, clientId), input);
        // Only the public profile is copied. If this fails, repeating the same update repairs it.
        await ledger.putApp({ app: toMessage(AppProfileSchema, app) });
        return app;
      }),

    /**
     * Issues a new secret. The old one fails once this returns. Throws `app_not_active` for a revoked app, `conflict` for one that
     * authenticates itself with its key.
     */
    rotateSecret: (ownerId: string, clientId: string) =>
      apps.alone(clientId, () => rotateSecret(dependencies, () => get(ownerId, clientId))),

    /**
     * Sets the status, in effect everywhere when it returns. A repeat completes an interrupted change. Throws `conflict` for `active`
     * while an operator has locked the app.
     */
    setStatus: (ownerId: string, clientId: string, status: App['status']) =>
      apps.alone(clientId, async () => setStatus(await get(ownerId, clientId), status)),
  };
}

async function rotateSecret({ apps, clock }: AppsDependencies, read: () => Promise<App>) {
  const { clientSecret, stored } = makeSecret();
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const app = await read();
    if (app.tokenEndpointAuthMethod !== 'client_secret_basic')
      throw withoutSecret(app.tokenEndpointAuthMethod);
    if (app.status === 'revoked') {
      throw new AppError('app_not_active', 'The app is revoked; set it active first.');
    }
    const rotatedAt = clock.now();
    if (await apps.replaceSecret(app, stored, rotatedAt))
      return { clientSecret, secretLast4: stored.secretLast4, rotatedAt };
  }
  throw overtaken();
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
  throw overtaken();
}

function overtaken(): AppError {
  return new AppError('conflict', 'The app is being changed by another request.');
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

function withoutSecret(method: string): AppError {
  return new AppError(
    'conflict',
    method === 'none'
      ? 'A public app has no secret.'
      : 'The app authenticates itself with its key (private_key_jwt) and has no secret. Set tokenEndpointAuthMethod to client_secret_basic first.',
  );
}

const APPROVAL = { kind: 'approval', reason: '', since: null } as const;

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
  const lock = { ...(lockOf(app) ?? APPROVAL), since: null };
  const set = (at: AppCommand) =>
    dependencies.ledger.setAppLock(toMessage(SetAppLockRequestSchema, { ...at, lock }));
  await changeInLedger(dependencies, app, set, (state) => state.lockKind !== null);
}

/** Why an app cannot become active. */
function locked({ kind, reason }: NonNullable<ReturnType<typeof lockOf>>): AppError {
  return new AppError(
    'conflict',
    kind === 'approval'
      ? 'The app waits for the approval of an operator.'
      : `An operator has suspended the app, and only an operator can lift this. Reason: ${reason}`,
  );
}

/**
 * Registers an app, first in the ledger: an app only known to the ledger is harmless, but an app unknown to the ledger could never be
 * revoked. Throws `invalid_request`, `conflict` (too many). The secret is returned only this time; empty for an app that authenticates
 * itself with its key, or not at all.
 */
async function register(
  dependencies: AppsDependencies,
  ownerId: string,
  input: SettingsInput,
  applicationType: ApplicationType,
): Promise<{ readonly app: App; readonly clientSecret: string }> {
  const { apps, ledger, clock, maxAppsPerDeveloper: limit, needsApproval, publicApps } = dependencies;
  const settings = parseRegistration(input, applicationType, publicApps);
  refuseKeyPlace(dependencies, settings);
  refuseOwnHost(dependencies, settings);
  const tooMany = () => new AppError('conflict', `A developer may have at most ${limit} apps.`);
  // Counted again when the app is stored. This count keeps an app beyond the limit out of the ledger, where it would stay.
  if ((await apps.countApps(ownerId)) >= limit) throw tooMany();
  const { clientSecret, stored } =
    settings.tokenEndpointAuthMethod === 'client_secret_basic' ? makeSecret() : NO_SECRET;
  const now = clock.now();
  const clientId = newId('app');
  const profile = { ...settings, clientId, ownerId, updatedAt: now };
  const put = await ledger.putApp({ app: toMessage(AppProfileSchema, profile) });
  const at = toCommand(clientId, put, put.revision);
  const state = needsApproval
    ? await ledger.setAppLock(toMessage(SetAppLockRequestSchema, { ...at, lock: APPROVAL }))
    : { ...put, lock: undefined };
  const columns = toLedgerState({ ...state, statusChangedAt: timestampFromDate(now) });
  const app = { ...profile, applicationType, ...columns, ...stored, secretRotatedAt: now, createdAt: now };
  if (!(await apps.insertApp(app, limit))) throw tooMany();
  return { app, clientSecret };
}

const NO_SECRET = { clientSecret: '', stored: { secretHash: null, secretLast4: '' } } as const;

function makeSecret(): { readonly clientSecret: string; readonly stored: StoredSecret } {
  const clientSecret = newSecret('client_secret');
  const stored = { secretHash: sha256(clientSecret), secretLast4: clientSecret.slice(-4) };
  return { clientSecret, stored };
}

// A concurrent change costs one attempt; changes of one app are rare.
const ATTEMPTS = 5;

/** A change of an app that is at a certain revision. A ledger restored from a backup continues above the state of our copy. */
export type AppCommand = ReturnType<typeof toCommand>;

function toCommand(
  clientId: string,
  known: { readonly revision: number; readonly epoch: number },
  expectedRevision: number,
) {
  return { clientId, expectedRevision, knownRevision: known.revision, knownEpoch: known.epoch };
}

/** The ledger's answer as it is stored. */
function toLedgerState(
  state: Pick<SetAppStatusResponse, 'status' | 'epoch' | 'revision' | 'statusChangedAt' | 'lock'>,
): LedgerState {
  const { status, epoch, revision, statusChangedAt, lock } = state;
  return {
    status: toName<App['status']>(AppStatusSchema, status),
    epoch,
    ledgerRevision: revision,
    statusChangedAt: toDate(statusChangedAt),
    lockKind: lock === undefined ? null : toName(AppLockKindSchema, lock.kind),
    lockReason: lock?.reason ?? null,
    lockedAt: lock === undefined ? null : toDate(lock.since),
  };
}

/**
 * Changes an app in the ledger, then in our copy, until `isDone` is true of the ledger's state. It may throw to give up. The ledger
 * is called even when nothing seems to change, so that a repeat completes a change that crashed between the two stores.
 */
export async function changeInLedger(
  { apps }: { readonly apps: Pick<AppStore, 'applyLedgerState'> },
  { clientId, epoch, ledgerRevision }: App,
  change: (command: AppCommand) => Promise<Parameters<typeof toLedgerState>[0]>,
  isDone: (state: LedgerState) => boolean,
): Promise<LedgerState> {
  let expectedRevision = ledgerRevision;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const known = { epoch, revision: ledgerRevision };
    const state = toLedgerState(await change(toCommand(clientId, known, expectedRevision)));
    await apps.applyLedgerState(clientId, state);
    // A restored ledger may have the wanted state from before, at a revision that is ignored here.
    const isBehind = state.ledgerRevision < ledgerRevision || state.epoch < epoch;
    if (isDone(state) && !isBehind) return state;
    expectedRevision = state.ledgerRevision;
  }
  throw new AppError('conflict', 'The status is being changed by another request.');
}
