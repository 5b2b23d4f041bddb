import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { type Listed, toPage } from '@phds/catalog/pagination';
import {
  AppGrantSchema,
  type ApproveRequest,
  ApproveResponseSchema,
  ConnectedAppSchema,
  ConsentGrantSchema,
  ConsentService,
} from '@phds/contracts/phds/consent/v1/consent_pb';
import { GrantStatusSchema } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { parseUserId } from '@phds/service-kit/ids';
import type { UserOf } from '@phds/service-kit/rpc/context';
import { findMember, toMessage } from '@phds/service-kit/rpc/messages';
import { implement, type UnaryRpcs } from '@phds/service-kit/rpc/service';
import { OPERATORS } from '@phds/service-kit/trust/callers';
import type pg from 'pg';
import { approvalRpcs } from './approvals.ts';
import type { Decisions } from './decide.ts';
import { found, getGrant, listConnectedApps, listGrants, listGrantsOfApp } from './grant-lists.ts';
import { findGrant, type Grant, type GrantStatus } from './grant-rows.ts';
import type { Grants } from './grants.ts';
import { findDate, findMoment, parseKnownId, parseLanguage, parseName, parseText } from './parameters.ts';
import type { GrantLife } from './pending-approvals.ts';
import type { People } from './people.ts';
import type { Receipts } from './receipts.ts';

const AUTHORIZATION = ['authorization'];
const GATEWAY = ['gateway'];
// Authorization checks that a request is still undecided before it refuses it because of the app's settings.
const GATEWAY_OR_AUTHORIZATION = ['gateway', 'authorization'];

interface ConsentServiceParts {
  readonly maxLivePerApp: number;
  readonly decisions: Decisions;
  readonly pools: { readonly ordinary: pg.Pool };
  readonly grants: Grants;
  readonly receipts: Receipts;
  readonly people: People;
  readonly userOf: UserOf;
}

type SomeRpcs = Partial<UnaryRpcs<typeof ConsentService>>;

/** phds.consent.v1.ConsentService. */
export function createConsentService(parts: ConsentServiceParts) {
  return implement(
    ConsentService,
    {
      ...approvalRpcs(parts),
      ...decisionRpcs(parts),
      ...grantRpcs(parts),
      ...withdrawalRpcs(parts),
      ...appGrantRpcs(parts),
      async eraseUser({ userId }) {
        const { grantIds, pendingApprovals } = await parts.people.erase(parseUserId(userId));
        return { grants: grantIds.length, pendingApprovals };
      },
    },
    {
      openPendingApproval: AUTHORIZATION,
      getPendingApproval: GATEWAY_OR_AUTHORIZATION,
      listPendingApprovals: GATEWAY,
      approve: AUTHORIZATION,
      deny: AUTHORIZATION,
      extendPendingApproval: AUTHORIZATION,
      releasePendingApproval: GATEWAY,
      listGrants: GATEWAY,
      narrowGrant: GATEWAY,
      revokeGrant: GATEWAY,
      revokeAllGrants: GATEWAY,
      listConnectedApps: GATEWAY,
      requestDeletion: GATEWAY,
      getReceipt: GATEWAY,
      listAppGrants: AUTHORIZATION,
      revokeAppGrant: AUTHORIZATION,
      eraseUser: OPERATORS,
    },
  );
}

function decisionRpcs({ decisions, userOf }: ConsentServiceParts) {
  return {
    async approve(request, context) {
      const userId = await userOf(context);
      const id = parseKnownId('apr', request.id);
      const choice = {
        scopes: request.allRequested ? null : request.scopes,
        days: findLife(request),
        dataFrom: findDate('dataFrom', request.dataFrom),
      };
      const approved = await decisions.approve({
        pendingId: id,
        userId,
        choice,
        language: parseLanguage('language', request.language),
        revision: parseText('revision', request.revision, 128) || null,
      });
      return toMessage(ApproveResponseSchema, approved);
    },
    async deny(request, context) {
      const userId = await userOf(context);
      return { decidedAt: timestampFromDate(await decisions.deny(parseKnownId('apr', request.id), userId)) };
    },
  } satisfies SomeRpcs;
}

function grantRpcs({ pools: { ordinary: pool }, grants, receipts, userOf }: ConsentServiceParts) {
  return {
    async listGrants(request, context) {
      const userId = await userOf(context);
      const { items, total } =
        request.grantId === ''
          ? await listGrants(pool, userId, findGrantStatus(request.status), toPage(request.page))
          : alone(await getGrant(pool, parseKnownId('grt', request.grantId), userId));
      return { grants: items.map((grant) => toMessage(ConsentGrantSchema, grant)), total };
    },
    async listConnectedApps({ page }, context) {
      const { items, total } = await listConnectedApps(pool, await userOf(context), toPage(page));
      return { apps: items.map((app) => toMessage(ConnectedAppSchema, app)), total };
    },
    async requestDeletion({ grantId }, context) {
      const userId = await userOf(context);
      const requestedAt = await grants.requestDeletion(parseKnownId('grt', grantId), userId);
      return { deletionRequestedAt: timestampFromDate(requestedAt) };
    },
    async getReceipt(request, context) {
      const userId = await userOf(context);
      return { receipt: await receipts.get(parseKnownId('grt', request.grantId), userId) };
    },
  } satisfies SomeRpcs;
}

function appGrantRpcs({ pools: { ordinary: pool }, grants }: ConsentServiceParts) {
  return {
    async listAppGrants(request) {
      const clientId = parseName('clientId', request.clientId);
      const filter = {
        status: findGrantStatus(request.status),
        sub: parseText('sub', request.sub, 128) || null,
        before: parseText('before', request.before, 128) || null,
        deletionRequested: request.deletionRequested,
      };
      const { items, total } =
        request.grantId === ''
          ? await listGrantsOfApp(pool, clientId, filter, toPage(request.page))
          : alone(found(await findGrant(pool, parseKnownId('grt', request.grantId), { clientId })));
      return { grants: items.map(toAppGrantMessage), total };
    },
    async revokeAppGrant(request) {
      const clientId = parseName('clientId', request.clientId);
      const revokedAt = await grants.revokeByApp(parseKnownId('grt', request.id), clientId);
      return { revokedAt: timestampFromDate(revokedAt) };
    },
  } satisfies SomeRpcs;
}

function withdrawalRpcs({ grants, userOf }: ConsentServiceParts) {
  return {
    async narrowGrant(request, context) {
      const userId = await userOf(context);
      const narrowing = {
        scopes: request.setScopes ? request.scopes : null,
        expiresAt: findMoment('expiresAt', request.expiresAt),
        dataFrom: findDate('dataFrom', request.dataFrom),
      };
      return {
        grant: toMessage(
          ConsentGrantSchema,
          await grants.narrow(parseKnownId('grt', request.id), userId, narrowing),
        ),
      };
    },
    async revokeGrant(request, context) {
      const userId = await userOf(context);
      return { revokedAt: timestampFromDate(await grants.revoke(parseKnownId('grt', request.id), userId)) };
    },
    async revokeAllGrants(_request, context) {
      return { revoked: await grants.revokeAll(await userOf(context)) };
    },
  } satisfies SomeRpcs;
}

/** A list of the one that was asked for. */
function alone<T>(item: T): Listed<T> {
  return { items: [item], total: 1 };
}

/** Null for the default. */
function findLife({ keepExpiry, expiresInDays }: ApproveRequest): GrantLife | null {
  if (keepExpiry) return 'kept';
  return expiresInDays === 0 ? null : expiresInDays;
}

export const findGrantStatus = (status: number) =>
  findMember<GrantStatus>('status', GrantStatusSchema, status);

/** A grant as its app sees it; of the person only what identifies them to this app. */
function toAppGrantMessage(grant: Grant) {
  const endedAt = grant.endedBy === null ? null : (grant.revokedAt ?? grant.expiresAt);
  return toMessage(AppGrantSchema, { ...grant, endedAt });
}
