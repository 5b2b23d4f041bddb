import { APP_STATUSES, GRANT_STATUSES, PENDING_STATUSES } from '@phds/catalog/wire-names';
import { PendingStatus } from '@phds/contracts/phds/consent/v1/consent_pb';
import { AppStatus, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';

type Name<T extends readonly string[]> = T[number];

const APP: Readonly<Record<Name<typeof APP_STATUSES>, AppStatus>> = {
  active: AppStatus.ACTIVE,
  suspended: AppStatus.SUSPENDED,
  revoked: AppStatus.REVOKED,
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

/** Maps internal status values to their public names and back. */
export const toAppStatus = (name: Name<typeof APP_STATUSES>): AppStatus => APP[name];
export const toGrantStatus = (name: Name<typeof GRANT_STATUSES>): GrantStatus => GRANT[name];
export const toPendingStatus = (name: Name<typeof PENDING_STATUSES>): PendingStatus => PENDING[name];
export const appStatusName = (status: AppStatus) => nameOf(APP_STATUSES, APP, status);
export const grantStatusName = (status: GrantStatus) => nameOf(GRANT_STATUSES, GRANT, status);
export const pendingStatusName = (status: PendingStatus) => nameOf(PENDING_STATUSES, PENDING, status);

function nameOf<N extends string, S>(names: readonly N[], table: Readonly<Record<N, S>>, status: S): N {
  const name = names.find((candidate) => table[candidate] === status);
  if (name === undefined) throw new RangeError('a status without a public name');
  return name;
}
