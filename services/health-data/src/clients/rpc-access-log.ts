import type { Client } from '@connectrpc/connect';
import { type AccessService, Verdict as VerdictMessage } from '@phds/contracts/phds/consent/v1/access_pb';
import type { Access, Verdict } from '../release.ts';

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

/** Records a batch and returns one verdict for each access, in order; null for an unusable one. */
export type SendAccesses = (accesses: readonly Access[]) => Promise<readonly (Verdict | null)[]>;

/** Lets consent record and judge a batch. One whose connection is lost may have been recorded, so it is not sent again. */
export function createRpcAccessLog(
  consent: Pick<Client<typeof AccessService>, 'recordAccess'>,
): SendAccesses {
  return async (accesses) => {
    const { verdicts } = await consent.recordAccess({ accesses: accesses.map(toAccessMessage) });
    return verdicts.map((verdict) => VERDICTS.get(verdict) ?? null);
  };
}

function toAccessMessage({ tokenHash, dataFrom, ...access }: Access) {
  return { ...access, tokenHash: Buffer.from(tokenHash, 'base64url'), dataFrom: dataFrom ?? '' };
}
