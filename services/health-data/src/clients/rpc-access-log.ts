import type { Client } from '@connectrpc/connect';
import { type AccessService, Verdict as VerdictMessage } from '@phds/contracts/phds/consent/v1/access_pb';
import type { Access, Verdict } from '../app/ports.ts';
import type { SendAccesses } from './batching-access-recorder.ts';

const VERDICTS: ReadonlyMap<VerdictMessage, Verdict> = new Map([
  [VerdictMessage.RELEASED, 'released'],
  [VerdictMessage.TOKEN_EXPIRED, 'token_expired'],
  [VerdictMessage.TOKEN_REVOKED, 'token_revoked'],
  [VerdictMessage.FAMILY_REVOKED, 'family_revoked'],
  [VerdictMessage.GRANT_REVOKED, 'grant_revoked'],
  [VerdictMessage.GRANT_EXPIRED, 'grant_expired'],
  [VerdictMessage.SCOPE_WITHDRAWN, 'scope_withdrawn'],
  [VerdictMessage.APP_NOT_ALIVE, 'app_not_alive'],
  [VerdictMessage.WINDOW_CHANGED, 'window_changed'],
  [VerdictMessage.RESTORE_UNCONFIRMED, 'restore_unconfirmed'],
]);

/** Lets consent record and judge a batch, with the channel's deadline. */
export function createRpcAccessLog(consent: Client<typeof AccessService>): SendAccesses {
  return async (accesses) => {
    const { verdicts } = await consent.recordAccess({ accesses: accesses.map(toAccessMessage) });
    return verdicts.map((verdict) => VERDICTS.get(verdict) ?? null);
  };
}

function toAccessMessage({ tokenHash, dataFrom, ...access }: Access) {
  return { ...access, tokenHash: Buffer.from(tokenHash, 'base64url'), dataFrom: dataFrom ?? '' };
}
