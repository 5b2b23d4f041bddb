import {
  APP_LOCK_KINDS,
  APP_STATUSES,
  type AppLockKind,
  GRANT_STATUSES,
  PENDING_STATUSES,
  type RefusalReason,
} from '@phds/catalog/wire-names';
import { Verdict } from '@phds/contracts/phds/consent/v1/access_pb';
import { Need, PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import {
  AppLockKind as AppLockKindMessage,
  AppStatus,
  GrantStatus,
} from '@phds/contracts/phds/consent/v1/ledger_pb';

type Name<T extends readonly string[]> = T[number];

const APP: Readonly<Record<Name<typeof APP_STATUSES>, AppStatus>> = {
  active: AppStatus.ACTIVE,
  suspended: AppStatus.SUSPENDED,
  revoked: AppStatus.REVOKED,
};

const APP_LOCK: Readonly<Record<AppLockKind, AppLockKindMessage>> = {
  suspension: AppLockKindMessage.SUSPENSION,
  approval: AppLockKindMessage.APPROVAL,
};

const GRANT: Readonly<Record<Name<typeof GRANT_STATUSES>, GrantStatus>> = {
  active: GrantStatus.ACTIVE,
  expired: GrantStatus.EXPIRED,
  revoked: GrantStatus.REVOKED,
};

const PENDING: Readonly<Record<Name<typeof PENDING_STATUSES>, PendingStatus>> = {
  pending: PendingStatus.PENDING,
  approved: PendingStatus.APPROVED,
  denied: PendingStatus.DENIED,
  expired: PendingStatus.EXPIRED,
  cancelled: PendingStatus.CANCELLED,
};

const REASON: Readonly<Record<Verdict, RefusalReason | null>> = {
  [Verdict.UNSPECIFIED]: null,
  [Verdict.RELEASED]: null,
  [Verdict.TOKEN_EXPIRED]: 'TOKEN_EXPIRED',
  [Verdict.TOKEN_REVOKED]: 'TOKEN_REVOKED',
  [Verdict.FAMILY_REVOKED]: 'FAMILY_REVOKED',
  [Verdict.GRANT_REVOKED]: 'GRANT_REVOKED',
  [Verdict.GRANT_EXPIRED]: 'GRANT_EXPIRED',
  [Verdict.SCOPE_WITHDRAWN]: 'SCOPE_WITHDRAWN',
  [Verdict.APP_NOT_ALIVE]: 'APP_NOT_ALIVE',
  [Verdict.WINDOW_CHANGED]: 'WINDOW_CHANGED',
  [Verdict.RESTORE_UNCONFIRMED]: 'RESTORE_UNCONFIRMED',
};

/** Why an access was refused, by its public name; null when it was released, and for a verdict that this gateway does not know. */
export const refusalReason = (verdict: Verdict): RefusalReason | null => REASON[verdict] ?? null;

const NEED: Readonly<Record<Need, 'needed' | 'optional' | null>> = {
  [Need.UNSPECIFIED]: null,
  [Need.NEEDED]: 'needed',
  [Need.OPTIONAL]: 'optional',
};

/** What an app says about a scope; null when it says nothing. */
export const needName = (need: Need) => NEED[need] ?? null;

/** Maps internal status values to their public names and back. */
export const toAppStatus = (name: Name<typeof APP_STATUSES>): AppStatus => APP[name];
export const toGrantStatus = (name: Name<typeof GRANT_STATUSES>): GrantStatus => GRANT[name];
export const toPendingStatus = (name: Name<typeof PENDING_STATUSES>): PendingStatus => PENDING[name];
export const appStatusName = (status: AppStatus) => nameOf(APP_STATUSES, APP, status);
export const appLockKindName = (kind: AppLockKindMessage) => nameOf(APP_LOCK_KINDS, APP_LOCK, kind);
export const grantStatusName = (status: GrantStatus) => nameOf(GRANT_STATUSES, GRANT, status);
export const pendingStatusName = (status: PendingStatus) => nameOf(PENDING_STATUSES, PENDING, status);

function nameOf<N extends string, S>(names: readonly N[], table: Readonly<Record<N, S>>, status: S): N {
  const name = names.find((candidate) => table[candidate] === status);
  if (name === undefined) throw new RangeError('a status without a public name');
  return name;
}
