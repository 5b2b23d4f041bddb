import type { RefusalReason } from '@phds/catalog/wire-names';

const TEXTS: Readonly<Record<RefusalReason, string>> = {
  GRANT_REVOKED: 'you had stopped sharing',
  GRANT_EXPIRED: 'the time was over',
  SCOPE_WITHDRAWN: 'you had withdrawn this part',
  APP_NOT_ALIVE: 'the app was suspended or ended',
  TOKEN_REVOKED: 'its token was revoked',
  TOKEN_EXPIRED: 'its token had expired',
  FAMILY_REVOKED: 'its sign-in was revoked',
  RESTORE_UNCONFIRMED: 'the service was restored and has to check it first',
  WINDOW_CHANGED: 'you had changed how far back it sees',
};

/** The reason of a refused access, worded for the person whose data it is. */
export function refusalText(reason: RefusalReason | null): string {
  return reason === null ? '' : (TEXTS[reason] ?? '');
}
