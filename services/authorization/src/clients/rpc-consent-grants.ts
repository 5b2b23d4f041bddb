import type { Client } from '@connectrpc/connect';
import { GRANT_ENDERS } from '@phds/catalog/wire-names';
import type { AppGrant, ConsentService } from '@phds/contracts/phds/consent/v1/consent_pb';
import { GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { AppError } from '@phds/service-kit/errors';
import type { ConsentGrants, OwnGrant } from '../app/own-grant-ports.ts';
import { fromGrantStatusMessage, fromTimestamp, toGrantStatusMessage } from './consent-messages.ts';

/** The grants of an app over consent's rpc. */
export function createRpcConsentGrants(client: Client<typeof ConsentService>): ConsentGrants {
  return {
    async list(clientId, { status, sub, before }, page) {
      const { grants, total } = await client.listAppGrants({
        clientId,
        page,
        status: status === null ? GrantStatus.UNSPECIFIED : toGrantStatusMessage(status),
        sub: sub ?? '',
        before: before ?? '',
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
