import type { Client } from '@connectrpc/connect';
import { type AccessService, Verdict as WireVerdict } from '@phds/contracts/phds/consent/v1/access_pb';
import type { Access, Verdict } from '../app/ports.ts';
import type { SendAccesses } from './batching-access-recorder.ts';

const VERDICTS: ReadonlyMap<WireVerdict, Verdict> = new Map([
  [WireVerdict.RELEASED, 'released'],
  [WireVerdict.TOKEN_EXPIRED, 'token_expired'],
  [WireVerdict.TOKEN_REVOKED, 'token_revoked'],
  [WireVerdict.FAMILY_REVOKED, 'family_revoked'],
  [WireVerdict.GRANT_REVOKED, 'grant_revoked'],
  [WireVerdict.GRANT_EXPIRED, 'grant_expired'],
  [WireVerdict.SCOPE_WITHDRAWN, 'scope_withdrawn'],
  [WireVerdict.APP_NOT_ALIVE, 'app_not_alive'],
  [WireVerdict.WINDOW_CHANGED, 'window_changed'],
  [WireVerdict.RESTORE_UNCONFIRMED, 'restore_unconfirmed'],
]);

/** Lets consent record and judge a batch, with the channel's deadline. */
export function createRpcAccessLog(consent: Client<typeof AccessService>): SendAccesses {
  return async (accesses) => {
    const { verdicts } = await consent.recordAccess({ accesses: accesses.map(toWire) });
    return verdicts.map((verdict) => VERDICTS.get(verdict) ?? null);
  };
}

function toWire({ tokenHash, dataFrom, ...access }: Access) {
  return { ...access, tokenHash: Buffer.from(tokenHash, 'base64url'), dataFrom: dataFrom ?? '' };
}
