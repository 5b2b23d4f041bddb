import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { LedgerService } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { batchingCalls } from '@phds/service-kit/batched-calls';
import type { ConsentLedger, LivenessQuery } from '../app/ports.ts';
import {
  fromAppStatusMessage,
  fromGrantMessage,
  toAppProfileMessage,
  toAppStatusMessage,
} from './consent-messages.ts';

/** Consent's ledger over rpc. Liveness checks at the same time share calls. */
export function createRpcConsentLedger(client: Client<typeof LedgerService>): ConsentLedger {
  return {
    async putApp(profile) {
      const { status, epoch, revision } = await client.putApp({ app: toAppProfileMessage(profile) });
      return { status: fromAppStatusMessage(status), epoch, revision };
    },

    async setAppStatus({ clientId, status: wanted, expectedRevision, known }) {
      const answer = await client.setAppStatus({
        clientId,
        status: toAppStatusMessage(wanted),
        expectedRevision,
        knownRevision: known.revision,
        knownEpoch: known.epoch,
      });
      const { status, epoch, revision, statusChangedAt: changed } = answer;
      const statusChangedAt = changed === undefined ? null : timestampDate(changed);
      return { status: fromAppStatusMessage(status), epoch, revision, statusChangedAt };
    },

    async revokeFamily(familyId, expiresAt) {
      await client.revokeFamily({ familyId, expiresAt: timestampFromDate(expiresAt) });
    },

    async revokeToken(tokenHash, expiresAt) {
      await client.revokeToken({ tokenHash, expiresAt: timestampFromDate(expiresAt) });
    },

    checkLiveness: batchingCalls(async (queries) => {
      const { results } = await client.checkLivenesses({ checks: queries.map(toCheck) });
      return results.map(({ appAlive, familyAlive, tokenAlive, grant }) => ({
        appAlive,
        familyAlive,
        tokenAlive,
        grant: grant === undefined ? null : fromGrantMessage(grant),
      }));
    }),
  };
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
