import { toProfile } from '@phds/catalog/app-profile';
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
import { readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import { findMember, toMessage } from '@phds/service-kit/rpc/messages';
import { implement } from '@phds/service-kit/rpc/service';
import type pg from 'pg';
import type { ReportedApp } from './app-profiles.ts';
import type { AppCommand, AppLock, AppStatus, Apps } from './apps.ts';
import type { Change } from './changes.ts';
import type { LivenessChecks, LivenessQuery } from './liveness.ts';
import { findMoment, parseCount, parseHash, parseMoment, parseName, parseText } from './parameters.ts';
import type { EvictionPublisher } from './redis-evictions.ts';

const REVOKE_FAMILY = readStatement(new URL('store/sql/revoke-family.sql', import.meta.url));
const REVOKE_TOKEN = readStatement(new URL('store/sql/revoke-token.sql', import.meta.url));

const AUTHORIZATION = ['authorization'];

const MAX_CHECKS = 64;

interface Parts {
  readonly pools: { readonly revocations: pg.Pool };
  readonly change: Change;
  readonly evictions: EvictionPublisher;
  readonly apps: Apps;
  readonly liveness: LivenessChecks;
}

/** phds.consent.v1.LedgerService. Token families and single tokens are revoked in a table each; `grants.ts` revokes grants. */
export function createLedgerService(parts: Parts) {
  const { apps, liveness } = parts;
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
      async revokeTokens({ revoked, ...request }) {
        const expiresAt = parseMoment('expiresAt', request.expiresAt);
        if (revoked.case === 'familyId')
          await revokeFamily(parts, parseName('familyId', revoked.value), expiresAt);
        else if (revoked.case === 'tokenHash')
          await revokeToken(parts, parseHash('tokenHash', revoked.value), expiresAt);
        else throw invalidRequest('revoked', 'is missing');
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
      revokeTokens: AUTHORIZATION,
      checkLivenesses: AUTHORIZATION,
    },
  );
}

function revokeFamily({ pools, change, evictions }: Parts, familyId: string, expiresAt: Date): Promise<void> {
  return change('family', async () => {
    await runStatement(pools.revocations, REVOKE_FAMILY, familyId, expiresAt);
    evictions.publish({ case: 'familyId', value: familyId });
  });
}

function revokeToken(
  { pools, change, evictions }: Parts,
  tokenHash: Uint8Array,
  expiresAt: Date,
): Promise<void> {
  return change('token', async () => {
    await runStatement(pools.revocations, REVOKE_TOKEN, Buffer.from(tokenHash), expiresAt);
    evictions.publish({ case: 'tokenHash', value: tokenHash });
  });
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
    ownerId: parseUserId(message.ownerId, 'app.ownerId'),
    ...toProfile((field) =>
      field === 'name' ? parseName('app.name', message.name, 512) : parseText(`app.${field}`, message[field]),
    ),
    updatedAt: parseMoment('app.updatedAt', message.updatedAt),
  };
}
