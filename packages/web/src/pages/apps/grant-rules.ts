import type { Grant } from '../../api/resources.ts';
import { localDay } from '../../ui/days.ts';

const DAY_MS = 86_400_000;
const WARNING_DAYS = 14;
const QUIET_DAYS = 60;
const UNUSED_DAYS = 30;

/**
 * The number of days, in the browser's zone, until the last day of sharing: 0 on that day. Null for sharing that has ended, or that
 * goes on for more than 14 days. Sharing that ends at midnight has the day before as its last day.
 */
export function findDaysLeft({ status, expiresAt }: Pick<Grant, 'status' | 'expiresAt'>, now: number) {
  const end = Date.parse(expiresAt);
  if (status !== 'active' || end <= now) return null;
  const days = (Date.parse(localDay(end - 1)) - Date.parse(localDay(now))) / DAY_MS;
  return days <= WARNING_DAYS ? days : null;
}

/** Whether an app that can read has read nothing for 60 days, or nothing at all in the first 30. */
export function isUnused(
  { status, grantedAt, lastAccessAt }: Pick<Grant, 'status' | 'grantedAt' | 'lastAccessAt'>,
  now: number,
): boolean {
  if (status !== 'active') return false;
  return lastAccessAt === null
    ? now - Date.parse(grantedAt) >= UNUSED_DAYS * DAY_MS
    : now - Date.parse(lastAccessAt) >= QUIET_DAYS * DAY_MS;
}

/** The connections that need a look first: changed apps, then ends that are near, the nearest first, then unused ones. */
export function sortByAttention<Connection extends Grant>(grants: readonly Connection[], now: number) {
  const rankOf = (grant: Grant): number => {
    if (grant.appChanges !== undefined) return -1;
    return findDaysLeft(grant, now) ?? (isUnused(grant, now) ? WARNING_DAYS + 1 : Number.POSITIVE_INFINITY);
  };
  const isNotable = (grant: Grant) => rankOf(grant) !== Number.POSITIVE_INFINITY;
  return {
    notable: grants.filter(isNotable).toSorted((one, other) => rankOf(one) - rankOf(other)),
    others: grants.filter((grant) => !isNotable(grant)),
  };
}
