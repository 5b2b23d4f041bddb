import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { toPage } from '@phds/catalog/pagination';
import {
  AppService,
  type AppSettings as AppSettingsMessage,
} from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AppOperatorService } from '@phds/contracts/phds/authorization/v1/operator_pb';
import { AppLockKind } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { createUserOf, sessionOf } from '@phds/service-kit/rpc/context';
import { implement, type UnaryRpcs } from '@phds/service-kit/rpc/service';
import { OPERATORS, VIEWERS } from '@phds/service-kit/trust/callers';
import type { SessionVerifier } from '@phds/service-kit/trust/session';
import { type AppLocks, fingerprintOf } from '../app-locks.ts';
import type { Apps } from '../apps.ts';
import {
  findAppStatus,
  findLockKind,
  toAppLockMessage,
  toAppStatusMessage,
} from '../clients/consent-messages.ts';
import type { Developers } from '../developers.ts';
import {
  APPLICATION_TYPES,
  type App,
  type ApplicationType,
  type AppLockKind as Kind,
} from '../domain/app.ts';
import type { SettingsInput } from '../domain/app-settings.ts';

/** Developers' apps, for a session that this service verifies itself. */
export function createAppService(dependencies: {
  readonly apps: Apps;
  readonly developers: Pick<Developers, 'mayRegister'>;
  readonly verifySession: SessionVerifier;
}) {
  const { apps, developers, verifySession } = dependencies;
  const userOf = createUserOf(verifySession);
  const implementation: UnaryRpcs<typeof AppService> = {
    async registerApp({ settings, applicationType }, context) {
      const type = parseType(applicationType);
      const session = await verifySession(sessionOf(context));
      if (!(await developers.mayRegister(session))) throw notADeveloper();
      const registered = await apps.register(session.userId, toSettingsInput(settings), type);
      return { app: toAppMessage(registered.app), clientSecret: registered.clientSecret ?? '' };
    },
    async listApps({ page }, context) {
      const session = await verifySession(sessionOf(context));
      const [{ items, total }, mayRegister] = await Promise.all([
        apps.list(session.userId, toPage(page)),
        developers.mayRegister(session),
      ]);
      return { apps: items.map(toAppMessage), total, registrationRefused: !mayRegister };
    },
    async getApp({ clientId }, context) {
      return { app: toAppMessage(await apps.get(await userOf(context), clientId)) };
    },
    async updateApp({ clientId, settings }, context) {
      const ownerId = await userOf(context);
      return { app: toAppMessage(await apps.update(ownerId, clientId, toSettingsInput(settings))) };
    },
    async rotateSecret({ clientId }, context) {
      const { rotatedAt, ...issued } = await apps.rotateSecret(await userOf(context), clientId);
      return { ...issued, rotatedAt: timestampFromDate(rotatedAt) };
    },
    async setAppStatus({ clientId, status }, context) {
      const ownerId = await userOf(context);
      const wanted = findAppStatus(status);
      if (wanted === null) throw invalidRequest('status', 'must be active, suspended or revoked');
      const change = await apps.setStatus(ownerId, clientId, wanted);
      return {
        status: toAppStatusMessage(change.status),
        statusChangedAt: timestampFromDate(change.statusChangedAt),
      };
    },
  };

  return implement(AppService, implementation, {
    registerApp: ['gateway'],
    listApps: ['gateway'],
    getApp: ['gateway'],
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

function toSettingsInput(settings: AppSettingsMessage | undefined): SettingsInput {
  return settings ?? { redirectUris: [], scopes: [] };
}

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
      liftAppLock: async ({ clientId, kind, seenFingerprint }) => ({
        app: toOperatedApp(await locks.lift(clientId, parseKind('kind', kind), seenFingerprint)),
      }),
      transferApp: async ({ clientId, userId, fromUserId }) => ({
        app: toOperatedApp(await locks.transfer(clientId, userId, fromUserId)),
      }),
      async listDevelopers({ page }) {
        const { items, total } = await developers.list(toPage(page));
        const toMessage = ({ userId, addedAt }: { readonly userId: string; readonly addedAt: Date }) => ({
          userId,
          addedAt: timestampFromDate(addedAt),
        });
        return { developers: items.map(toMessage), total };
      },
      addDeveloper: async ({ userId }) => developers.add(userId).then(() => ({})),
      removeDeveloper: async ({ userId }) => developers.remove(userId).then(() => ({})),
    },
    {
      listAllApps: VIEWERS,
      getAnyApp: VIEWERS,
      suspendApp: OPERATORS,
      liftAppLock: OPERATORS,
      transferApp: OPERATORS,
      listDevelopers: VIEWERS,
      addDeveloper: OPERATORS,
      removeDeveloper: OPERATORS,
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
  return {
    app: toAppMessage(app),
    ownerId,
    statusChangedAt: timestampFromDate(statusChangedAt),
    fingerprint: fingerprintOf(app),
  };
}

function toAppMessage(app: App) {
  return {
    clientId: app.clientId,
    secretLast4: app.secretLast4,
    name: app.name,
    redirectUris: [...app.redirectUris],
    scopes: [...app.scopes],
    description: app.description,
    developerName: app.developerName,
    homepageUrl: app.homepageUrl,
    privacyPolicyUrl: app.privacyPolicyUrl,
    requirePkce: app.requirePkce,
    tokenEndpointAuthMethod: app.tokenEndpointAuthMethod,
    jwks: app.jwks,
    jwksUri: app.jwksUri,
    ...(app.jwksFetchedAt !== null && { jwksFetchedAt: timestampFromDate(app.jwksFetchedAt) }),
    jwksFailure: app.jwksFailure,
    dpopBoundAccessTokens: app.dpopBoundAccessTokens,
    requirePushedAuthorizationRequests: app.requirePushedAuthorizationRequests,
    applicationType: app.applicationType,
    status: toAppStatusMessage(app.status),
    ...(app.lock !== null && { lock: toAppLockMessage(app.lock) }),
    createdAt: timestampFromDate(app.createdAt),
    updatedAt: timestampFromDate(app.updatedAt),
  };
}
