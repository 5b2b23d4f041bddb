import type { RefusalReason } from '@phds/catalog/wire-names';
import { text } from './texts.ts';

const TEXTS = {
  GRANT_REVOKED: 'grantRevoked',
  GRANT_EXPIRED: 'grantExpired',
  SCOPE_WITHDRAWN: 'scopeWithdrawn',
  APP_NOT_ALIVE: 'appNotAlive',
  TOKEN_REVOKED: 'tokenRevoked',
  TOKEN_EXPIRED: 'tokenExpired',
  FAMILY_REVOKED: 'tokenRevoked',
  RESTORE_UNCONFIRMED: 'restoreUnconfirmed',
  WINDOW_CHANGED: 'windowChanged',
} as const satisfies Readonly<Record<RefusalReason, string>>;

/** Why a read was blocked, worded for the person whose data it is. */
export function refusalText(reason: RefusalReason | null): string {
  return reason === null || TEXTS[reason] === undefined ? '' : text(TEXTS[reason]);
}
