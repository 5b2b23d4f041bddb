import { toPage } from '@phds/catalog/pagination';
import {
  AppSchema,
  AppService,
  RotateSecretResponseSchema,
  SetAppStatusResponseSchema,
} from '@phds/contracts/phds/authorization/v1/apps_pb';
import {
  AppOperatorService,
  DeveloperSchema,
  OperatedAppSchema,
} from '@phds/contracts/phds/authorization/v1/operator_pb';
import {
  type AppLockKind,
  AppLockKindSchema,
  AppStatusSchema,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { createUserOf, sessionOf } from '@phds/service-kit/rpc/context';
import { findMember, toMessage } from '@phds/service-kit/rpc/messages';
import { implement, type UnaryRpcs } from '@phds/service-kit/rpc/service';
import { OPERATORS, VIEWERS } from '@phds/service-kit/trust/callers';
import type { SessionVerifier } from '@phds/service-kit/trust/session';
import { APPLICATION_TYPES, type App, type ApplicationType, lockOf } from '../app.ts';
import { type AppLocks, fingerprintOf } from '../app-locks.ts';
import type { Apps } from '../apps.ts';
import type { Developers } from '../developers.ts';

const NO_SETTINGS = { redirectUris: [], scopes: [] };

/** Developers' apps, for a session that this service verifies itself. */
export function createAppService(dependencies: {
  readonly apps: Apps;
  readonly developers: Pick<Developers, 'mayRegister'>;
  readonly verifySession: SessionVerifier;
}) {
  const { apps, developers, verifySession } = dependencies;
  const userOf = createUserOf(verifySession);
  const implementation: UnaryRpcs<typeof AppService> = {
    async registerApp({ settings = NO_SETTINGS, applicationType }, context) {
      const type = parseType(applicationType);
      const session = await verifySession(sessionOf(context));
      if (!(await developers.mayRegister(session))) throw notADeveloper();
      const { app, clientSecret } = await apps.register(session.userId, settings, type);
      return { app: toAppMessage(app), clientSecret };
    },
    async listApps({ page, clientId }, context) {
      if (clientId !== '')
        return { apps: [toAppMessage(await apps.get(await userOf(context), clientId))], total: 1 };
      const session = await verifySession(sessionOf(context));
      const [{ items, total }, mayRegister] = await Promise.all([
        apps.list(session.userId, toPage(page)),
        developers.mayRegister(session),
      ]);
      return { apps: items.map(toAppMessage), total, registrationRefused: !mayRegister };
    },
    async updateApp({ clientId, settings = NO_SETTINGS }, context) {
      return { app: toAppMessage(await apps.update(await userOf(context), clientId, settings)) };
    },
    async rotateSecret({ clientId }, context) {
      const rotated = await apps.rotateSecret(await userOf(context), clientId);
      return toMessage(RotateSecretResponseSchema, rotated);
    },
    async setAppStatus({ clientId, status }, context) {
      const ownerId = await userOf(context);
      const wanted = findMember<App['status']>('status', AppStatusSchema, status);
      if (wanted === null) throw invalidRequest('status', 'must be active, suspended or revoked');
      return toMessage(SetAppStatusResponseSchema, await apps.setStatus(ownerId, clientId, wanted));
    },
  };

  return implement(AppService, implementation, {
    registerApp: ['gateway'],
    listApps: ['gateway'],
    updateApp: ['gateway'],
    rotateSecret: ['gateway'],
    setAppStatus: ['gateway'],
  });
}

function parseType(name: string): ApplicationType {
  const type = APPLICATION_TYPES.find((known) => known === (name || 'server'));
  if (type !== undefined) return type;
  throw invalidRequest('applicationType', `must be one of ${APPLICATION_TYPES.join(', ')}`);
}

function notADeveloper(): AppError {
  return new AppError(
    'not_a_developer',
    'You may not register apps at this service. Its operator can admit you.',
  );
}

/** What operators do about everybody's apps. */
export function createAppOperatorService(locks: AppLocks, developers: Omit<Developers, 'mayRegister'>) {
  return implement(
    AppOperatorService,
    {
      async listAllApps({ page, ownerId, lockKind, clientId }) {
        if (clientId !== '') return { apps: [toOperatedApp(await locks.get(clientId))], total: 1 };
        const filter = {
          ownerId: ownerId || null,
          lockKind: findMember('lockKind', AppLockKindSchema, lockKind),
        };
        const { items, total } = await locks.list(filter, toPage(page));
        return { apps: items.map(toOperatedApp), total };
      },
      suspendApp: async ({ clientId, reason }) => ({
        app: toOperatedApp(await locks.suspend(clientId, reason)),
      }),
      liftAppLock: async ({ clientId, kind, seenFingerprint }) => ({
        app: toOperatedApp(await locks.lift(clientId, parseKind(kind), seenFingerprint)),
      }),
      transferApp: async ({ clientId, userId, fromUserId }) => ({
        app: toOperatedApp(await locks.transfer(clientId, userId, fromUserId)),
      }),
      async listDevelopers({ page }) {
        const { items, total } = await developers.list(toPage(page));
        return { developers: items.map((developer) => toMessage(DeveloperSchema, developer)), total };
      },
      addDeveloper: async ({ userId }) => developers.add(userId).then(() => ({})),
      removeDeveloper: async ({ userId }) => developers.remove(userId).then(() => ({})),
    },
    {
      listAllApps: VIEWERS,
      suspendApp: OPERATORS,
      liftAppLock: OPERATORS,
      transferApp: OPERATORS,
      listDevelopers: VIEWERS,
      addDeveloper: OPERATORS,
      removeDeveloper: OPERATORS,
    },
  );
}

function parseKind(message: AppLockKind): string {
  const kind = findMember('kind', AppLockKindSchema, message);
  if (kind === null) throw invalidRequest('kind', 'must be suspension or approval');
  return kind;
}

function toOperatedApp(app: App) {
  const row = { ...app, app: toAppRow(app), fingerprint: fingerprintOf(app) };
  return toMessage(OperatedAppSchema, row);
}

function toAppMessage(app: App) {
  return toMessage(AppSchema, toAppRow(app));
}

function toAppRow(app: App) {
  return { ...app, lock: lockOf(app) };
}
