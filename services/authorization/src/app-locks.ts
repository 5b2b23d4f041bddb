import type { Page } from '@phds/catalog/pagination';
import { countCharacters, findShownTextFault } from '@phds/catalog/shown-text';
import { SetAppLockRequestSchema } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { isId, parseUserId } from '@phds/service-kit/ids';
import { toMessage } from '@phds/service-kit/rpc/messages';
import { sha256 } from '@phds/service-kit/secrets';
import {
  APPROVED_SETTINGS,
  type App,
  type AppFilter,
  type AppSettings,
  type AppStore,
  type LedgerState,
} from './app.ts';
import { type AppCommand, changeInLedger } from './apps.ts';
import type { ConsentLedger } from './clients/consent.ts';

/** Maximum length of an operator's reason, in characters. */
const MAX_REASON_LENGTH = 500;

/** Names what an operator approves of an app. */
export function fingerprintOf(app: Pick<AppSettings, (typeof APPROVED_SETTINGS)[number]>): string {
  const settings = JSON.stringify(APPROVED_SETTINGS.map((field) => app[field]));
  return sha256(settings).toString('hex');
}

interface LockDependencies {
  readonly apps: AppStore;
  readonly ledger: ConsentLedger;
  readonly log: { info(fields: object, message: string): void };
}

export type AppLocks = ReturnType<typeof createAppLocks>;

/** What operators do about everybody's apps. Each change is in effect everywhere when it returns; a repeat completes it. */
export function createAppLocks(dependencies: LockDependencies) {
  const { apps, ledger } = dependencies;

  async function get(clientId: string): Promise<App> {
    const app = isId('app', clientId) ? await apps.findApp(clientId) : null;
    if (app === null) throw notFound('There is no such app.');
    return app;
  }

  return {
    list: (filter: AppFilter, page: Page) => apps.listApps(filter, page),
    get,

    /** Locks an app, or replaces the reason of its lock. Throws `invalid_request` without a reason that can be shown. */
    async suspend(clientId: string, text: string): Promise<App> {
      const reason = parseReason(text);
      const lock = { kind: 'suspension', reason };
      const isDone = ({ lockKind, lockReason }: LedgerState) =>
        lockKind === lock.kind && lockReason === reason;
      return apps.alone(clientId, async () => {
        await setLock(dependencies, { app: await get(clientId), lock, isDone });
        return get(clientId);
      });
    },

    /**
     * Lifts a lock of this kind. Throws `conflict` if the app has one of the other kind, or other settings than those of the fingerprint,
     * which the operator has seen.
     */
    async lift(clientId: string, kind: string, seenFingerprint: string): Promise<App> {
      if (seenFingerprint === '') throw invalidRequest('seenFingerprint', 'is required');
      // The ledger lifts whatever lock it has at the revision of our copy, so a lock of the other kind is refused before.
      const isLifted = ({ lockKind }: LedgerState) => {
        if (lockKind !== null && lockKind !== kind) throw otherKind(kind);
        return lockKind === null;
      };
      return apps.alone(clientId, async () => {
        const app = await get(clientId);
        isLifted(app);
        if (fingerprintOf(app) !== seenFingerprint) {
          throw new AppError('conflict', 'The app has other settings than those. Look at it again.');
        }
        await setLock(dependencies, { app, lock: null, isDone: isLifted });
        return get(clientId);
      });
    },

    /** Makes somebody else the developer of an app, in the ledger first. Throws `conflict` unless it belongs to one of the two. */
    async transfer(clientId: string, nextId: string, formerId: string): Promise<App> {
      const ownerId = parseUserId(nextId);
      return apps.alone(clientId, async () => {
        const app = await get(clientId);
        if (app.ownerId !== ownerId && app.ownerId !== formerId) throw otherOwner();
        await ledger.setAppOwner({ clientId, ownerId });
        if (!(await apps.setOwner(clientId, ownerId, formerId))) throw otherOwner();
        return get(clientId);
      });
    },
  };
}

async function setLock(
  { apps, ledger, log }: LockDependencies,
  {
    app,
    lock,
    isDone,
  }: {
    readonly app: App;
    readonly lock: { readonly kind: string; readonly reason: string } | null;
    readonly isDone: (present: LedgerState) => boolean;
  },
): Promise<void> {
  const row = lock && { ...lock, since: null };
  const set = (at: AppCommand) => ledger.setAppLock(toMessage(SetAppLockRequestSchema, { ...at, lock: row }));
  await changeInLedger({ apps }, app, set, isDone);
  log.info({ clientId: app.clientId, lock: lock?.kind ?? null }, 'an operator has set the lock of an app');
}

function parseReason(text: string): string {
  const reason = text.trim();
  if (reason === '') throw invalidRequest('reason', 'is required');
  if (countCharacters(reason) > MAX_REASON_LENGTH) {
    throw invalidRequest('reason', `must have at most ${MAX_REASON_LENGTH} characters`);
  }
  const fault = findShownTextFault(reason, 'line');
  if (fault !== null) throw invalidRequest('reason', fault);
  return reason;
}

function otherOwner(): AppError {
  return new AppError('conflict', 'The app belongs to somebody else. Look at it again.');
}

function otherKind(kind: string): AppError {
  const state = kind === 'approval' ? 'suspended by an operator' : 'waiting for approval';
  return new AppError('conflict', `The app is ${state}.`);
}
