import type { Client } from '@connectrpc/connect';
import { type ConsentService, PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import type { ConsentApprovals } from '../app/ports.ts';
import { fromApprovalMessage, fromTimestamp, toAppProfileMessage } from './consent-messages.ts';

/** Consent's pending approvals and grants over rpc; forwards the person's session. */
export function createRpcConsentApprovals(client: Client<typeof ConsentService>): ConsentApprovals {
  return {
    async open({ app, scopes, neededScopes, ...pending }) {
      const { removedIds } = await client.openPendingApproval({
        ...pending,
        app: toAppProfileMessage(app),
        scopes: [...scopes],
        neededScopes: [...neededScopes],
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
