import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import {
  type CheckLivenessRequest,
  LedgerService,
  type SetAppLockRequest,
  type SetAppStatusRequest,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { implement } from '@phds/service-kit/rpc/service';
import { parseUserId } from '@phds/service-kit/user-id';
import type { AppCommand, Apps } from '../apps.ts';
import type { AppState } from '../domain/app.ts';
import type { Liveness, LivenessChecks, LivenessQuery } from '../liveness.ts';
import type { Revocations } from '../revocations.ts';
import {
  findAppLock,
  parseAppStatus,
  parseReportedApp,
  toAppLockMessage,
  toAppStatusMessage,
} from './app-messages.ts';
import { toGrantStatusMessage } from './grant-messages.ts';
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
  const check = async (request: CheckLivenessRequest) =>
    toLivenessMessage(await liveness.check(parseLivenessQuery(request)));

  return implement(
    LedgerService,
    {
      async putApp(request) {
        const { status, epoch, revision } = await apps.put(parseReportedApp(request.app));
        return { status: toAppStatusMessage(status), epoch, revision };
      },
      async setAppStatus(request) {
        const status = parseAppStatus(request.status);
        return toStateMessage(await apps.setStatus({ ...parseAppCommand(request), status }));
      },
      async setAppLock(request) {
        const lock = findAppLock(request.lock);
        return toStateMessage(await apps.setLock({ ...parseAppCommand(request), lock }));
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
      checkLiveness: check,
      async checkLivenesses({ checks }) {
        if (checks.length > MAX_CHECKS) throw invalidRequest('checks', `must be at most ${MAX_CHECKS}`);
        return { results: await Promise.all(checks.map(check)) };
      },
    },
    {
      putApp: AUTHORIZATION,
      setAppStatus: AUTHORIZATION,
      setAppLock: AUTHORIZATION,
      setAppOwner: AUTHORIZATION,
      revokeFamily: AUTHORIZATION,
      revokeToken: AUTHORIZATION,
      checkLiveness: AUTHORIZATION,
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

function toStateMessage({ status, epoch, revision, statusChangedAt, lock }: AppState) {
  return {
    status: toAppStatusMessage(status),
    epoch,
    revision,
    statusChangedAt: timestampFromDate(statusChangedAt),
    ...(lock !== null && { lock: toAppLockMessage(lock) }),
  };
}

function toLivenessMessage({ grant, ...alive }: Liveness) {
  if (grant === null) return alive;
  return {
    ...alive,
    grant: {
      status: toGrantStatusMessage(grant.status),
      scopes: [...grant.scopes],
      expiresAt: timestampFromDate(grant.expiresAt),
      userId: grant.userId,
      dataFrom: grant.dataFrom ?? '',
      sub: grant.sub,
    },
  };
}

function parseLivenessQuery(request: CheckLivenessRequest): LivenessQuery {
  return {
    clientId: parseName('clientId', request.clientId),
    appEpoch: parseCount('appEpoch', request.appEpoch),
    grantId: parseText('grantId', request.grantId, 128),
    familyId: parseText('familyId', request.familyId, 128),
    tokenHash: request.tokenHash.length === 0 ? request.tokenHash : parseHash('tokenHash', request.tokenHash),
    issuedAt: request.grantId === '' ? findMoment('issuedAt', request.issuedAt) : null,
  };
}
