import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { ServiceImpl } from '@connectrpc/connect';
import { toPage } from '@phds/catalog/pagination';
import type { AppSettings as AppSettingsMessage } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { createUserOf, sessionOf } from '@phds/service-kit/rpc-context';
import { implement } from '@phds/service-kit/rpc-service';
import type { SessionVerifier } from '@phds/service-kit/session';
import type { StepUp } from '@phds/service-kit/step-up';
import type { Apps } from '../app/apps.ts';
import type { ReplacedSecret } from '../app/ports.ts';
import { findAppStatus, toAppStatusMessage } from '../clients/consent-messages.ts';
import type { App } from '../domain/app.ts';
import type { SettingsInput } from '../domain/app-settings.ts';

/** Developers' apps, for a session that this service verifies itself. */
export function createAppService(dependencies: {
  readonly apps: Apps;
  readonly verifySession: SessionVerifier;
  readonly stepUp: StepUp;
}) {
  const { apps, verifySession, stepUp } = dependencies;
  const userOf = createUserOf(verifySession);
  const implementation: ServiceImpl<typeof AppService> = {
    async registerApp({ settings, sandbox }, context) {
      const environment = sandbox ? 'sandbox' : 'live';
      const registered = await apps.register(await userOf(context), toSettingsInput(settings), environment);
      return { app: toAppMessage(registered.app), clientSecret: registered.clientSecret };
    },
    async listApps({ page }, context) {
      const { items, total } = await apps.list(await userOf(context), toPage(page));
      return { apps: items.map(toAppMessage), total };
    },
    async getApp({ clientId }, context) {
      return { app: toAppMessage(await apps.get(await userOf(context), clientId)) };
    },
    async updateApp({ clientId, settings }, context) {
      const ownerId = await userOf(context);
      return { app: toAppMessage(await apps.update(ownerId, clientId, toSettingsInput(settings))) };
    },
    async rotateSecret({ clientId, overlapSeconds }, context) {
      const session = await verifySession(sessionOf(context));
      stepUp.check('secret-rotation', session);
      const rotated = await apps.rotateSecret(session.userId, clientId, overlapSeconds);
      const { clientSecret, secretLast4, rotatedAt } = rotated;
      return {
        clientSecret,
        secretLast4,
        rotatedAt: timestampFromDate(rotatedAt),
        ...toPreviousSecret(rotated),
      };
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

function toSettingsInput(settings: AppSettingsMessage | undefined): SettingsInput {
  return settings ?? { redirectUris: [], scopes: [] };
}

function toPreviousSecret({ previousSecretLast4, previousSecretExpiresAt }: ReplacedSecret) {
  return {
    previousSecretLast4,
    ...(previousSecretExpiresAt !== null && {
      previousSecretExpiresAt: timestampFromDate(previousSecretExpiresAt),
    }),
  };
}

function toAppMessage(app: App) {
  return {
    clientId: app.clientId,
    secretLast4: app.secretLast4,
    ...toPreviousSecret(app),
    name: app.name,
    redirectUris: [...app.redirectUris],
    scopes: [...app.scopes],
    description: app.description,
    developerName: app.developerName,
    homepageUrl: app.homepageUrl,
    privacyPolicyUrl: app.privacyPolicyUrl,
    logoUrl: app.logoUrl,
    requirePkce: app.requirePkce,
    status: toAppStatusMessage(app.status),
    createdAt: timestampFromDate(app.createdAt),
    updatedAt: timestampFromDate(app.updatedAt),
  };
}
