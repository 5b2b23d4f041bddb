import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { LedgerService } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { ConsentLedger } from '../app/ports.ts';
import {
  fromAppStatusMessage,
  fromGrantMessage,
  toAppProfileMessage,
  toAppStatusMessage,
} from './consent-messages.ts';

/** Consent's ledger over rpc. */
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

    async checkLiveness({ clientId, appEpoch, grantId, familyId, tokenHash, issuedAt }) {
      const answer = await client.checkLiveness({
        clientId,
        appEpoch,
        grantId: grantId ?? '',
        familyId: familyId ?? '',
        tokenHash: tokenHash ?? new Uint8Array(),
        ...(issuedAt === undefined ? {} : { issuedAt: timestampFromDate(issuedAt) }),
      });
      const { appAlive, familyAlive, tokenAlive, grant } = answer;
      return {
        appAlive,
        familyAlive,
        tokenAlive,
        grant: grant === undefined ? null : fromGrantMessage(grant),
      };
    },
  };
}
