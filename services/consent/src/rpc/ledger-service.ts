import {
  AppLockKindSchema,
  type AppLock as AppLockMessage,
  type AppProfile,
  AppStatusSchema,
  LedgerService,
  type LivenessCheck,
  LivenessSchema,
  PutAppResponseSchema,
  type SetAppLockRequest,
  SetAppLockResponseSchema,
  type SetAppStatusRequest,
  SetAppStatusResponseSchema,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import { findMember, toMessage } from '@phds/service-kit/rpc/rows';
import { implement } from '@phds/service-kit/rpc/service';
import type { ReportedApp } from '../app-profiles.ts';
import type { AppCommand, AppLock, AppStatus, Apps } from '../apps.ts';
import type { LivenessChecks, LivenessQuery } from '../liveness.ts';
import type { Revocations } from '../revocations.ts';
import { findMoment, parseCount, parseHash, parseMoment, parseName, parseText } from './parameters.ts';

const AUTHORIZATION = ['authorization'];

const MAX_CHECKS = 64;

/** phds.consent.v1.LedgerService. */
export function createLedgerService({
  apps,
  revocations,
  liveness,
}: {
  readonly apps: Apps;
  readonly revocations: Revocations;
  readonly liveness: LivenessChecks;
}) {
  return implement(
    LedgerService,
    {
      async putApp(request) {
        return toMessage(PutAppResponseSchema, await apps.put(parseReportedApp(request.app)));
      },
      async setAppStatus(request) {
        const status = findMember<AppStatus>('status', AppStatusSchema, request.status);
        if (status === null) throw invalidRequest('status', 'is missing');
        const state = await apps.setStatus({ ...parseAppCommand(request), status });
        return toMessage(SetAppStatusResponseSchema, state);
      },
      async setAppLock(request) {
        const state = await apps.setLock({ ...parseAppCommand(request), lock: findAppLock(request.lock) });
        return toMessage(SetAppLockResponseSchema, state);
      },
      async setAppOwner({ clientId, ownerId }) {
        await apps.setOwner(parseName('clientId', clientId), parseUserId(ownerId));
        return {};
      },
      async revokeFamily(request) {
        const familyId = parseName('familyId', request.familyId);
        await revocations.revokeFamily(familyId, parseMoment('expiresAt', request.expiresAt));
        return {};
      },
      async revokeToken(request) {
        const tokenHash = parseHash('tokenHash', request.tokenHash);
        await revocations.revokeToken(tokenHash, parseMoment('expiresAt', request.expiresAt));
        return {};
      },
      async checkLivenesses({ checks }) {
        if (checks.length > MAX_CHECKS) throw invalidRequest('checks', `must be at most ${MAX_CHECKS}`);
        const results = await Promise.all(checks.map(parseLivenessQuery).map(liveness.check));
        return { results: results.map((result) => toMessage(LivenessSchema, result)) };
      },
    },
    {
      putApp: AUTHORIZATION,
      setAppStatus: AUTHORIZATION,
      setAppLock: AUTHORIZATION,
      setAppOwner: AUTHORIZATION,
      revokeFamily: AUTHORIZATION,
      revokeToken: AUTHORIZATION,
      checkLivenesses: AUTHORIZATION,
    },
  );
}

function parseAppCommand(request: SetAppStatusRequest | SetAppLockRequest): AppCommand {
  const { expectedRevision } = request;
  return {
    clientId: parseName('clientId', request.clientId),
    expectedRevision: expectedRevision === 0 ? null : expectedRevision,
    known: {
      epoch: parseCount('knownEpoch', request.knownEpoch),
      revision: parseCount('knownRevision', request.knownRevision),
    },
  };
}

/** The lock to set; null to lift it. */
function findAppLock(lock: AppLockMessage | undefined): Pick<AppLock, 'kind' | 'reason'> | null {
  if (lock === undefined) return null;
  const kind = findMember<AppLock['kind']>('lock.kind', AppLockKindSchema, lock.kind);
  if (kind === null) throw invalidRequest('lock.kind', 'is missing');
  return { kind, reason: parseText('lock.reason', lock.reason, 1_000) };
}

function parseLivenessQuery(check: LivenessCheck): LivenessQuery {
  return {
    clientId: parseName('clientId', check.clientId),
    appEpoch: parseCount('appEpoch', check.appEpoch),
    grantId: parseText('grantId', check.grantId, 128),
    familyId: parseText('familyId', check.familyId, 128),
    tokenHash: check.tokenHash.length === 0 ? check.tokenHash : parseHash('tokenHash', check.tokenHash),
    issuedAt: check.grantId === '' ? findMoment('issuedAt', check.issuedAt) : null,
  };
}

export function parseReportedApp(message: AppProfile | undefined): ReportedApp {
  if (message === undefined) throw invalidRequest('app', 'is missing');
  return {
    clientId: parseName('app.clientId', message.clientId),
    name: parseName('app.name', message.name, 512),
    ownerId: parseUserId(message.ownerId, 'app.ownerId'),
    description: parseText('app.description', message.description),
    developerName: parseText('app.developerName', message.developerName),
    homepageUrl: parseText('app.homepageUrl', message.homepageUrl),
    privacyPolicyUrl: parseText('app.privacyPolicyUrl', message.privacyPolicyUrl),
    updatedAt: parseMoment('app.updatedAt', message.updatedAt),
  };
}
