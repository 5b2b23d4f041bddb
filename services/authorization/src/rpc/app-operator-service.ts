import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { toPage } from '@phds/catalog/pagination';
import { AppOperatorService } from '@phds/contracts/phds/authorization/v1/operator_pb';
import { AppLockKind } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { implement } from '@phds/service-kit/rpc/service';
import type { AppLocks } from '../app/app-locks.ts';
import type { Developer, Developers } from '../app/developers.ts';
import { findLockKind } from '../clients/consent-messages.ts';
import type { App, AppLockKind as Kind } from '../domain/app.ts';
import { toAppMessage } from './app-messages.ts';

const OPERATOR = ['operator'];

/** What operators do about everybody's apps. */
export function createAppOperatorService(locks: AppLocks, developers: Omit<Developers, 'mayRegister'>) {
  return implement(
    AppOperatorService,
    {
      async listAllApps({ page, ownerId, lockKind }) {
        const filter = {
          ownerId: ownerId || null,
          lockKind: lockKind === AppLockKind.UNSPECIFIED ? null : parseKind('lockKind', lockKind),
        };
        const { items, total } = await locks.list(filter, toPage(page));
        return { apps: items.map(toOperatedApp), total };
      },
      getAnyApp: async ({ clientId }) => ({ app: toOperatedApp(await locks.get(clientId)) }),
      suspendApp: async ({ clientId, reason }) => ({
        app: toOperatedApp(await locks.suspend(clientId, reason)),
      }),
      async liftAppLock({ clientId, kind, seenUpdatedAt: seen }) {
        const seenUpdatedAt = seen === undefined ? null : timestampDate(seen);
        return { app: toOperatedApp(await locks.lift(clientId, parseKind('kind', kind), seenUpdatedAt)) };
      },
      async listDevelopers({ page }) {
        const { items, total } = await developers.list(toPage(page));
        const toMessage = ({ userId, addedAt }: Developer) => ({
          userId,
          addedAt: timestampFromDate(addedAt),
        });
        return { developers: items.map(toMessage), total };
      },
      addDeveloper: async ({ userId }) => developers.add(userId).then(() => ({})),
      removeDeveloper: async ({ userId }) => developers.remove(userId).then(() => ({})),
    },
    {
      listAllApps: OPERATOR,
      getAnyApp: OPERATOR,
      suspendApp: OPERATOR,
      liftAppLock: OPERATOR,
      listDevelopers: OPERATOR,
      addDeveloper: OPERATOR,
      removeDeveloper: OPERATOR,
    },
  );
}

function parseKind(parameter: string, message: AppLockKind): Kind {
  const kind = findLockKind(message);
  if (kind === null) throw invalidRequest(parameter, 'must be suspension or approval');
  return kind;
}

function toOperatedApp(app: App) {
  const { ownerId, statusChangedAt } = app;
  return { app: toAppMessage(app), ownerId, statusChangedAt: timestampFromDate(statusChangedAt) };
}
