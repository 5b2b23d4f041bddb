import type { DescService } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import {
  AppStatus,
  GrantStatus,
  LedgerService,
  type LivenessCheck,
} from '@phds/contracts/phds/consent/v1/ledger_pb';
import { OperatorActService } from '@phds/contracts/phds/consent/v1/operator_acts_pb';
import { AppError } from '@phds/service-kit/errors';
import { sessionOf } from '@phds/service-kit/rpc/context';
import { implement, type UnaryRpcs } from '@phds/service-kit/rpc/service';
import type { FakeApp, FakeConsent, FakeGrant } from './fake-consent.ts';

/** The rpcs of consent that authorization calls, on the in-memory state. */
export function createFakeServices(fake: FakeConsent) {
  return [
    serve(LedgerService, createLedger(fake)),
    serve(ConsentService, createConsent(fake)),
    serve(OperatorActService, createActs(fake)),
  ];
}

/** Serves these rpcs to authorization. The other rpcs of the service do not exist here. */
function serve<Service extends DescService>(descriptor: Service, rpcs: Partial<UnaryRpcs<Service>>) {
  const admitted = Object.fromEntries(Object.keys(rpcs).map((rpc) => [rpc, ['authorization']]));
  return (implement as (...parts: readonly object[]) => ReturnType<typeof implement>)(
    descriptor,
    rpcs,
    admitted,
  );
}

function createActs(fake: FakeConsent): Partial<UnaryRpcs<typeof OperatorActService>> {
  return {
    beginAct: async ({ operator, rpc, userId, clientId, reason }) => {
      fake.enter('beginAct');
      const number = fake.acts.push([operator, rpc, userId, clientId, reason].join(' '));
      return { number: BigInt(number) };
    },
    endAct: async ({ number, outcome }) => {
      fake.enter('endAct');
      fake.acts.push(`${number} ${outcome}`);
      return {};
    },
  };
}

function toState({ status, epoch, revision, changedAt, lock }: FakeApp) {
  const statusChangedAt = timestampFromDate(changedAt);
  return { status, epoch, revision, statusChangedAt, ...(lock !== undefined && { lock }) };
}

function createLedger(fake: FakeConsent): UnaryRpcs<typeof LedgerService> {
  const check = async ({ clientId, appEpoch, grantId, familyId, tokenHash }: LivenessCheck) => {
    fake.enter('checkLiveness');
    const app = fake.apps.get(clientId);
    const grant = fake.grants.get(grantId);
    const answer = {
      appAlive: app?.status === AppStatus.ACTIVE && app.epoch === appEpoch,
      familyAlive: !fake.revokedFamilies.has(familyId),
      tokenAlive: !fake.revokedTokens.has(Buffer.from(tokenHash).toString('hex')),
      ...(grant === undefined ? {} : { grant: fake.facts(grant) }),
    };
    await fake.onCheckLiveness();
    return answer;
  };

  return {
    putApp: async ({ app }) => {
      fake.enter('putApp');
      const known = fake.apps.get(app?.clientId ?? '');
      const fresh = { status: AppStatus.ACTIVE, epoch: 1, revision: 1, changedAt: fake.clock.now() };
      const put = { ...(known ?? fresh), profile: app };
      fake.apps.set(app?.clientId ?? '', put);
      return { status: put.status, epoch: put.epoch, revision: put.revision };
    },
    setAppStatus: async ({ clientId, status, expectedRevision, knownRevision, knownEpoch }) => {
      fake.enter('setAppStatus');
      const app = fake.app(clientId);
      const isBehind = app.revision < knownRevision || app.epoch < knownEpoch;
      const isMeant = expectedRevision === 0 || app.revision === expectedRevision;
      const isFree = app.lock === undefined || status !== AppStatus.ACTIVE;
      if ((app.status !== status || isBehind) && isMeant && isFree) {
        if (app.status !== status) app.changedAt = fake.clock.now();
        app.status = status;
        app.revision = Math.max(app.revision, knownRevision) + 1;
        app.epoch = Math.max(app.epoch, knownEpoch) + (status === AppStatus.REVOKED ? 1 : 0);
      }
      return fake.leave('setAppStatus', toState(app));
    },
    setAppLock: async ({ clientId, lock, expectedRevision }) => {
      fake.enter('setAppLock');
      if (lock?.since !== undefined) throw new Error('a request has the time of a lock');
      const app = fake.app(clientId);
      const same = app.lock?.kind === lock?.kind && app.lock?.reason === lock?.reason;
      if (!same && app.revision === expectedRevision) {
        if (lock !== undefined && app.status === AppStatus.ACTIVE) app.status = AppStatus.SUSPENDED;
        else if (lock === undefined && app.status === AppStatus.SUSPENDED) app.status = AppStatus.ACTIVE;
        app.lock = lock && {
          kind: lock.kind,
          reason: lock.reason,
          since: timestampFromDate(fake.clock.now()),
        };
        app.revision += 1;
      }
      await fake.onSetAppLock();
      return fake.leave('setAppLock', toState(app));
    },
    setAppOwner: async ({ clientId, ownerId }) => {
      fake.enter('setAppOwner');
      fake.owners.set(clientId, ownerId);
      return fake.leave('setAppOwner', {});
    },
    revokeTokens: async ({ revoked }) => {
      fake.enter('revokeTokens');
      if (revoked.case === 'familyId') fake.revokedFamilies.add(revoked.value);
      else fake.revokedTokens.add(Buffer.from(revoked.value ?? []).toString('hex'));
      return fake.leave('revokeTokens', {});
    },
    checkLivenesses: async ({ checks }) => {
      if (checks.length > 64) throw new Error('more checks than consent accepts');
      return { results: await Promise.all(checks.map(check)) };
    },
  };
}

function createConsent(fake: FakeConsent): Partial<UnaryRpcs<typeof ConsentService>> {
  return {
    openPendingApproval: async (request) => {
      fake.enter('openPendingApproval');
      const app = fake.app(request.app?.clientId ?? '');
      if (app.status !== AppStatus.ACTIVE) throw new AppError('app_not_active');
      const expiresAt = fake.putPending(request);
      return fake.leave('openPendingApproval', {
        expiresAt: timestampFromDate(expiresAt),
        removedIds: [...fake.removed],
      });
    },
    getPendingApproval: async ({ id, withoutClaiming }, context) => {
      fake.enter('getPendingApproval');
      const { userId } = await fake.sessions(sessionOf(context));
      const pending = withoutClaiming ? fake.find(id, userId) : fake.claim(id, userId);
      return { pendingApproval: { id, status: fake.statusOf(pending) } };
    },
    approve: async (request, context) => {
      fake.enter('approve');
      const { userId } = await fake.sessions(sessionOf(context));
      const approved = fake.approve(request, userId);
      await fake.onApprove();
      return fake.leave('approve', approved);
    },
    deny: async ({ id }, context) => {
      fake.enter('deny');
      const { userId } = await fake.sessions(sessionOf(context));
      const pending = fake.decide(id, 'deny', userId);
      return { decidedAt: timestampFromDate(pending.decidedAt) };
    },
    extendPendingApproval: async ({ id }, context) => {
      fake.enter('extendPendingApproval');
      const { userId } = await fake.sessions(sessionOf(context));
      return { expiresAt: timestampFromDate(fake.extend(id, userId)) };
    },
    listAppGrants: async ({ clientId, status, sub, grantId }) => {
      fake.enter('listAppGrants');
      if (grantId !== '') return { grants: [toAppGrant(fake, fake.grantOf(clientId, grantId))], total: 1 };
      const own = [...fake.grants.values()].filter((grant) => grant.clientId === clientId);
      const grants = own
        .map((grant) => toAppGrant(fake, grant))
        .filter((grant) => status === GrantStatus.UNSPECIFIED || grant.status === status)
        .filter((grant) => sub === '' || grant.sub === sub);
      return { grants, total: grants.length };
    },
    revokeAppGrant: async ({ clientId, id }) => {
      fake.enter('revokeAppGrant');
      const grant = fake.grantOf(clientId, id);
      grant.status = GrantStatus.REVOKED;
      grant.endedBy ??= 'app';
      grant.endedAt ??= fake.clock.now();
      return fake.leave('revokeAppGrant', { revokedAt: timestampFromDate(grant.endedAt) });
    },
  };
}

function toAppGrant(fake: FakeConsent, grant: FakeGrant) {
  const { userId: _, ...facts } = fake.facts(grant);
  const { deletionRequestedAt, endedAt, endedBy = '' } = grant;
  return {
    ...facts,
    id: grant.id,
    grantedAt: timestampFromDate(grant.grantedAt),
    ...(deletionRequestedAt !== undefined && { deletionRequestedAt: timestampFromDate(deletionRequestedAt) }),
    ...(endedAt !== undefined && { endedAt: timestampFromDate(endedAt) }),
    endedBy,
  };
}
