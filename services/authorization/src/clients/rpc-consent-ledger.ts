import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { Client } from '@connectrpc/connect';
import type { LedgerService } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { batchingCalls, SHORT_READS } from '@phds/service-kit/batcher';
import type { StreamedCalls } from '@phds/service-kit/rpc/streamed-calls';
import type { AppCommand } from '../app/app-ports.ts';
import type { ConsentLedger, LivenessQuery } from '../app/ports.ts';
import {
  fromAppStatusMessage,
  fromGrantMessage,
  fromStateMessage,
  toAppProfileMessage,
  toAppStatusMessage,
  toLockKindMessage,
} from './consent-messages.ts';

type CheckLivenesses = (typeof LedgerService)['method']['checkLivenesses'];

/** What the rpc accepts. */
const MAX_CHECKS = 64;

/** Consent's ledger over rpc. Liveness checks at the same time share calls. */
export function createRpcConsentLedger(
  client: Client<typeof LedgerService>,
  checkLivenesses: StreamedCalls<CheckLivenesses['input'], CheckLivenesses['output']>,
): ConsentLedger {
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

    async revokeFamily(familyId, expiresAt) {
      await client.revokeFamily({ familyId, expiresAt: timestampFromDate(expiresAt) });
    },

    async revokeToken(tokenHash, expiresAt) {
      await client.revokeToken({ tokenHash, expiresAt: timestampFromDate(expiresAt) });
    },

    checkLiveness: batchingCalls(
      async (queries) => {
        const { results } = await checkLivenesses({ request: { checks: queries.map(toCheck) } });
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
