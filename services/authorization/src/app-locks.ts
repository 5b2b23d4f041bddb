import type { Listed, Page } from '@phds/catalog/pagination';
import { countCharacters, findShownTextFault } from '@phds/catalog/shown-text';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { isId, parseUserId } from '@phds/service-kit/ids';
import { sha256 } from '@phds/service-kit/secrets';
import { changeInLedger } from './apps.ts';
import type { ConsentLedger } from './clients/consent.ts';
import type { AppCommand } from './clients/consent-messages.ts';
import {
  APPROVED_SETTINGS,
  type App,
  type AppLock,
  type AppLockKind,
  type AppSettings,
} from './domain/app.ts';
import type { AppFilter, AppStore } from './store/postgres-apps.ts';

/** Maximum length of an operator's reason, in characters. */
const MAX_REASON_LENGTH = 500;

/** Names what an operator approves of an app. */
export function fingerprintOf(app: Pick<AppSettings, (typeof APPROVED_SETTINGS)[number]>): string {
  const settings = JSON.stringify(APPROVED_SETTINGS.map((field) => app[field]));
  return sha256(settings).toString('hex');
}

/** What operators do about everybody's apps. Each change is in effect everywhere when it returns; a repeat completes it. */
export interface AppLocks {
  list(filter: AppFilter, page: Page): Promise<Listed<App>>;
  get(clientId: string): Promise<App>;
  /** Locks an app, or replaces the reason of its lock. Throws `invalid_request` without a reason that can be shown. */
  suspend(clientId: string, reason: string): Promise<App>;
  /**
   * Lifts a lock of this kind. Throws `conflict` if the app has one of the other kind, or other settings than those of the fingerprint,
   * which the operator has seen.
   */
  lift(clientId: string, kind: AppLockKind, seenFingerprint: string): Promise<App>;
  /** Makes somebody else the developer of an app. Throws `conflict` unless it belongs to one of the two. */
  transfer(clientId: string, ownerId: string, formerId: string): Promise<App>;
}

export function createAppLocks(dependencies: {
  readonly apps: AppStore;
  readonly ledger: ConsentLedger;
  readonly log: { info(fields: object, message: string): void };
}): AppLocks {
  const { apps, ledger, log } = dependencies;

  async function get(clientId: string): Promise<App> {
    const app = isId('app', clientId) ? await apps.findApp(clientId) : null;
    if (app === null) throw notFound('There is no such app.');
    return app;
  }

  async function setLock(
    app: App,
    lock: Pick<AppLock, 'kind' | 'reason'> | null,
    isDone: (present: AppLock | null) => boolean,
  ): Promise<App> {
    const set = (at: AppCommand) => ledger.setAppLock({ ...at, lock });
    await changeInLedger(dependencies, app, set, (state) => isDone(state.lock));
    log.info({ clientId: app.clientId, lock: lock?.kind ?? null }, 'an operator has set the lock of an app');
    return get(app.clientId);
  }

  return {
    list: (filter, page) => apps.listApps(filter, page),
    get,

    async suspend(clientId, text) {
      const reason = parseReason(text);
      const lock = { kind: 'suspension', reason } as const;
      return apps.alone(clientId, async () =>
        setLock(
          await get(clientId),
          lock,
          (present) => present?.kind === lock.kind && present.reason === reason,
        ),
      );
    },

    async lift(clientId, kind, seenFingerprint) {
      if (seenFingerprint === '') throw invalidRequest('seenFingerprint', 'is required');
      // The ledger lifts whatever lock it has at the revision of our copy, so a lock of the other kind is refused before.
      const isLifted = (present: AppLock | null) => {
        if (present !== null && present.kind !== kind) throw otherKind(kind);
        return present === null;
      };
      return apps.alone(clientId, async () => {
        const app = await get(clientId);
        isLifted(app.lock);
        if (fingerprintOf(app) !== seenFingerprint) {
          throw new AppError('conflict', 'The app has other settings than those. Look at it again.');
        }
        return setLock(app, null, isLifted);
      });
    },

    async transfer(clientId, ownerId, formerId) {
      const next = parseUserId(ownerId);
      return apps.alone(clientId, async () => {
        await transfer(dependencies, await get(clientId), { ownerId: next, formerId });
        return get(clientId);
      });
    },
  };
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

/** In the ledger first, so that a repeat completes what reached only one of the two. */
async function transfer(
  { apps, ledger }: { readonly apps: AppStore; readonly ledger: ConsentLedger },
  app: App,
  { ownerId, formerId }: { readonly ownerId: string; readonly formerId: string },
): Promise<void> {
  if (app.ownerId !== ownerId && app.ownerId !== formerId) throw otherOwner();
  await ledger.setAppOwner(app.clientId, ownerId);
  if (!(await apps.setOwner(app.clientId, ownerId, formerId))) throw otherOwner();
}

function otherOwner(): AppError {
  return new AppError('conflict', 'The app belongs to somebody else. Look at it again.');
}

function otherKind(kind: AppLockKind): AppError {
  const state = kind === 'approval' ? 'suspended by an operator' : 'waiting for approval';
  return new AppError('conflict', `The app is ${state}.`);
}
