import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { toPage } from '@phds/catalog/pagination';
import type { AppSettings as AppSettingsMessage } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AppService } from '@phds/contracts/phds/authorization/v1/apps_pb';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { createUserOf, sessionOf } from '@phds/service-kit/rpc/context';
import type { UnaryRpcs } from '@phds/service-kit/rpc/service';
import { implement } from '@phds/service-kit/rpc/service';
import type { SessionVerifier } from '@phds/service-kit/trust/session';
import type { StepUp } from '@phds/service-kit/trust/step-up';
import type { Apps } from '../app/apps.ts';
import type { Developers } from '../app/developers.ts';
import { findAppStatus, toAppStatusMessage } from '../clients/consent-messages.ts';
import type { SettingsInput } from '../domain/app-settings.ts';
import { toAppMessage, toPreviousSecret } from './app-messages.ts';

/** Developers' apps, for a session that this service verifies itself. */
export function createAppService(dependencies: {
  readonly apps: Apps;
  readonly developers: Pick<Developers, 'mayRegister'>;
  readonly verifySession: SessionVerifier;
  readonly stepUp: StepUp;
}) {
  const { apps, developers, verifySession, stepUp } = dependencies;
  const userOf = createUserOf(verifySession);
  const implementation: UnaryRpcs<typeof AppService> = {
    async registerApp({ settings, sandbox }, context) {
      const environment = sandbox ? 'sandbox' : 'live';
      const session = await verifySession(sessionOf(context));
      if (!(await developers.mayRegister(session))) throw notADeveloper();
      const registered = await apps.register(session.userId, toSettingsInput(settings), environment);
      return { app: toAppMessage(registered.app), clientSecret: registered.clientSecret };
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

function notADeveloper(): AppError {
  return new AppError(
    'not_a_developer',
    'You may not register apps at this service. Its operator can admit you.',
  );
}

function toSettingsInput(settings: AppSettingsMessage | undefined): SettingsInput {
  return settings ?? { redirectUris: [], scopes: [] };
}
