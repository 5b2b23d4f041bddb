import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { Listed, Page } from '@phds/catalog/pagination';
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
import type { Config } from '../config.ts';
import type { ChangedState, LedgerState } from '../domain/app.ts';
import type { Liveness } from '../domain/token.ts';
import {
  type AppCommand,
  type AppProfile,
  type Approval,
  type Decision,
  fromApprovalMessage,
  fromAppStatusMessage,
  fromGrantMessage,
  fromGrantStatusMessage,
  fromStateMessage,
  fromTimestamp,
  type LivenessQuery,
  type LockCommand,
  type OwnGrant,
  type OwnGrantFilter,
  type PendingApproval,
  type StatusCommand,
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

export type ConsentApprovals = ReturnType<typeof createRpcConsentApprovals>;

/** Consent's pending approvals over rpc; forwards the person's session, which consent verifies itself. */
function createRpcConsentApprovals(client: Client<typeof ConsentService>) {
  return {
    /** Idempotent by id. Returns the ids of requests that consent removed for it. Throws `app_not_active`, `rate_limited`. */
    async open({ app, scopes, ...pending }: PendingApproval): Promise<readonly string[]> {
      const { removedIds } = await client.openPendingApproval({
        ...pending,
        app: toAppProfileMessage(app),
        scopes: [...scopes],
      });
      return removedIds;
    },

    /** Whether the pending approval is still undecided. Does not claim it. Throws `not_found`, also when another person has claimed it. */
    async isUndecided(session: string, pendingId: string): Promise<boolean> {
      const request = { id: pendingId, withoutClaiming: true };
      const { pendingApproval } = await client.getPendingApproval(request, withSession(session));
      return pendingApproval?.status === PendingStatus.PENDING;
    },

    /** Repeating a user's decision returns the same result. */
    async approve(session: string, decision: Decision): Promise<Approval> {
      const { pendingId, scopes, allRequested, expiresInDays, keepExpiry, dataFrom, language, revision } =
        decision;
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

    async deny(session: string, pendingId: string): Promise<void> {
      await client.deny({ id: pendingId }, withSession(session));
    },

    /** Gives the person more time to decide and returns the new end. */
    async extend(session: string, pendingId: string): Promise<Date> {
      const { expiresAt } = await client.extendPendingApproval({ id: pendingId }, withSession(session));
      return fromTimestamp(expiresAt);
    },
  };
}

function withSession(session: string) {
  return { headers: { [SESSION_METADATA]: session } };
}

/** The grants of an app over consent's rpc. */
export type ConsentGrants = ReturnType<typeof createRpcConsentGrants>;

/** The grants of one app in consent. */
function createRpcConsentGrants(client: Client<typeof ConsentService>) {
  return {
    /** Newest first. */
    async list(clientId: string, filter: OwnGrantFilter, page: Page): Promise<Listed<OwnGrant>> {
      const { status, sub, before, deletionRequested } = filter;
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

    /** Throws `not_found`, also for another app's grant. */
    async get(clientId: string, id: string): Promise<OwnGrant> {
      const { grant } = await client.getAppGrant({ clientId, id });
      if (grant === undefined) throw new AppError('internal', '', { cause: 'consent sent no grant' });
      return fromAppGrant(grant);
    },

    /** Ends a grant, in effect everywhere when it returns its time. Idempotent. Throws `not_found` as above. */
    async end(clientId: string, id: string): Promise<Date> {
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

export type ConsentLedger = ReturnType<typeof createRpcConsentLedger>;

/**
 * Consent's ledger over rpc, the authority on what is live. Every method is idempotent. Liveness checks at the same time share calls.
 */
function createRpcConsentLedger(client: Client<typeof LedgerService>) {
  return {
    /** Creates the app in the ledger, or replaces its profile. */
    async putApp(profile: AppProfile): Promise<LedgerState> {
      const { status, epoch, revision } = await client.putApp({ app: toAppProfileMessage(profile) });
      return { status: fromAppStatusMessage(status), epoch, revision };
    },

    /** In effect everywhere when it returns the requested status. Another status means that the app is at another revision. */
    setAppStatus: async ({ status, ...command }: StatusCommand): Promise<ChangedState> =>
      fromStateMessage(
        await client.setAppStatus({ ...toCommand(command), status: toAppStatusMessage(status) }),
      ),

    /** In effect everywhere when it returns the requested lock. Another one means that the app is at another revision. */
    setAppLock: async ({ lock, ...command }: LockCommand): Promise<ChangedState> =>
      fromStateMessage(
        await client.setAppLock({
          ...toCommand(command),
          ...(lock !== null && { lock: { kind: toLockKindMessage(lock.kind), reason: lock.reason } }),
        }),
      ),

    async setAppOwner(clientId: string, ownerId: string): Promise<void> {
      await client.setAppOwner({ clientId, ownerId });
    },

    /** Revokes a family permanently. `expiresAt` is when everything issued by it has expired. */
    async revokeFamily(familyId: string, expiresAt: Date): Promise<void> {
      await client.revokeFamily({ familyId, expiresAt: timestampFromDate(expiresAt) });
    },

    /** Revokes one access token permanently. */
    async revokeToken(tokenHash: Uint8Array, expiresAt: Date): Promise<void> {
      await client.revokeToken({ tokenHash, expiresAt: timestampFromDate(expiresAt) });
    },

    checkLiveness: batchingCalls(
      async (queries: readonly LivenessQuery[]): Promise<Liveness[]> => {
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
