import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import { GRANT_ENDERS } from '@phds/catalog/wire-names';
import { type AppGrant, ConsentService, PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { GrantStatus, LedgerService } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { batchingCalls, SHORT_READS } from '@phds/service-kit/batcher';
import type { Clock } from '@phds/service-kit/clock';
import { AppError } from '@phds/service-kit/errors';
import { openRpcChannel, repeatIfLost } from '@phds/service-kit/rpc/client';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import { createOperatorRecordClient } from '@phds/service-kit/rpc/operator-acts';
import type { Reloads } from '@phds/service-kit/settings/reload';
import { toRpcChannelOptions } from '@phds/service-kit/settings/service-options';
import type { Metrics } from '@phds/service-kit/telemetry/metrics';
import type {
  AppCommand,
  ConsentApprovals,
  ConsentGrants,
  ConsentLedger,
  LivenessQuery,
  OwnGrant,
} from '../app/ports.ts';
import type { Config } from '../config.ts';
import {
  fromApprovalMessage,
  fromAppStatusMessage,
  fromGrantMessage,
  fromGrantStatusMessage,
  fromStateMessage,
  fromTimestamp,
  toAppProfileMessage,
  toAppStatusMessage,
  toGrantStatusMessage,
  toLockKindMessage,
} from './consent-messages.ts';

/** Typed clients of consent, over one channel. */
export function connectConsent(
  config: Config,
  context: {
    readonly clock: Clock;
    readonly metrics: Metrics;
    readonly reloads: Reloads;
  },
  resources: AsyncDisposableStack,
) {
  const { CONSENT_ADDRESS: address, CONSENT_DEADLINE_MS: deadlineMs } = config;
  const options = {
    ...toRpcChannelOptions(config, { service: 'authorization', ...context }),
    address,
    audience: 'consent',
    deadlineMs,
  };
  const channel = resources.use(openRpcChannel(options));
  return {
    ledger: createRpcConsentLedger(channel.client(LedgerService)),
    approvals: createRpcConsentApprovals(channel.client(ConsentService)),
    grants: createRpcConsentGrants(channel.client(ConsentService)),
    operatorRecord: createOperatorRecordClient(channel),
  };
}

/** Consent's pending approvals and grants over rpc; forwards the person's session. */
function createRpcConsentApprovals(client: Client<typeof ConsentService>): ConsentApprovals {
  return {
    async open({ app, scopes, ...pending }) {
      const { removedIds } = await client.openPendingApproval({
        ...pending,
        app: toAppProfileMessage(app),
        scopes: [...scopes],
      });
      return removedIds;
    },

    async isUndecided(session, pendingId) {
      const request = { id: pendingId, withoutClaiming: true };
      const { pendingApproval } = await client.getPendingApproval(request, withSession(session));
      return pendingApproval?.status === PendingStatus.PENDING;
    },

    async approve(
      session,
      { pendingId, scopes, allRequested, expiresInDays, keepExpiry, dataFrom, language, revision },
    ) {
      const request = {
        id: pendingId,
        scopes: [...scopes],
        allRequested,
        expiresInDays,
        keepExpiry,
        dataFrom,
        language,
        revision,
      };
      return fromApprovalMessage(await client.approve(request, withSession(session)));
    },

    async deny(session, pendingId) {
      await client.deny({ id: pendingId }, withSession(session));
    },

    async extend(session, pendingId) {
      const { expiresAt } = await client.extendPendingApproval({ id: pendingId }, withSession(session));
      return fromTimestamp(expiresAt);
    },
  };
}

function withSession(session: string) {
  return { headers: { [SESSION_METADATA]: session } };
}

/** The grants of an app over consent's rpc. */
function createRpcConsentGrants(client: Client<typeof ConsentService>): ConsentGrants {
  return {
    async list(clientId, { status, sub, before, deletionRequested }, page) {
      const { grants, total } = await client.listAppGrants({
        clientId,
        page,
        status: status === null ? GrantStatus.UNSPECIFIED : toGrantStatusMessage(status),
        sub: sub ?? '',
        before: before ?? '',
        deletionRequested,
      });
      return { items: grants.map(fromAppGrant), total };
    },

    async get(clientId, id) {
      const { grant } = await client.getAppGrant({ clientId, id });
      if (grant === undefined) throw new AppError('internal', '', { cause: 'consent sent no grant' });
      return fromAppGrant(grant);
    },

    async end(clientId, id) {
      return fromTimestamp((await client.revokeAppGrant({ clientId, id })).revokedAt);
    },
  };
}

function fromAppGrant(grant: AppGrant): OwnGrant {
  const { deletionRequestedAt, endedAt } = grant;
  return {
    id: grant.id,
    scopes: grant.scopes,
    status: fromGrantStatusMessage(grant.status),
    grantedAt: fromTimestamp(grant.grantedAt),
    expiresAt: fromTimestamp(grant.expiresAt),
    deletionRequestedAt: deletionRequestedAt === undefined ? null : fromTimestamp(deletionRequestedAt),
    dataFrom: grant.dataFrom || null,
    sub: grant.sub || null,
    endedAt: endedAt === undefined ? null : fromTimestamp(endedAt),
    endedBy: GRANT_ENDERS.find((ender) => ender === grant.endedBy) ?? null,
  };
}

/** What the rpc accepts. */
const MAX_CHECKS = 64;

/** Consent's ledger over rpc. Liveness checks at the same time share calls. */
function createRpcConsentLedger(client: Client<typeof LedgerService>): ConsentLedger {
  return {
    async putApp(profile) {
      const { status, epoch, revision } = await client.putApp({ app: toAppProfileMessage(profile) });
      return { status: fromAppStatusMessage(status), epoch, revision };
    },

    setAppStatus: async ({ status, ...command }) =>
      fromStateMessage(
        await client.setAppStatus({ ...toCommand(command), status: toAppStatusMessage(status) }),
      ),

    setAppLock: async ({ lock, ...command }) =>
      fromStateMessage(
        await client.setAppLock({
          ...toCommand(command),
          ...(lock !== null && { lock: { kind: toLockKindMessage(lock.kind), reason: lock.reason } }),
        }),
      ),

    async setAppOwner(clientId, ownerId) {
      await client.setAppOwner({ clientId, ownerId });
    },

    async revokeFamily(familyId, expiresAt) {
      await client.revokeFamily({ familyId, expiresAt: timestampFromDate(expiresAt) });
    },

    async revokeToken(tokenHash, expiresAt) {
      await client.revokeToken({ tokenHash, expiresAt: timestampFromDate(expiresAt) });
    },

    checkLiveness: batchingCalls(
      async (queries) => {
        const checks = queries.map(toCheck);
        const { results } = await repeatIfLost(() => client.checkLivenesses({ checks }));
        return results.map(({ appAlive, familyAlive, tokenAlive, grant }) => ({
          appAlive,
          familyAlive,
          tokenAlive,
          grant: grant === undefined ? null : fromGrantMessage(grant),
        }));
      },
      { ...SHORT_READS, maxCost: MAX_CHECKS },
    ),
  };
}

function toCommand({ clientId, expectedRevision, known }: AppCommand) {
  return { clientId, expectedRevision, knownRevision: known.revision, knownEpoch: known.epoch };
}

function toCheck({ clientId, appEpoch, grantId, familyId, tokenHash, issuedAt }: LivenessQuery) {
  return {
    clientId,
    appEpoch,
    grantId: grantId ?? '',
    familyId: familyId ?? '',
    tokenHash: tokenHash ?? new Uint8Array(),
    ...(issuedAt === undefined ? {} : { issuedAt: timestampFromDate(issuedAt) }),
  };
}
