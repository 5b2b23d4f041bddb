import { startOfDay } from '@phds/catalog/local-time';
import { DEFAULT_TIME_ZONE } from '../domain/profile.ts';
import type { ProfileStore } from './ports.ts';

/** The user's zone, or UTC if none is set. */
export async function getTimeZone(profiles: ProfileStore, userId: string): Promise<string> {
  return (await profiles.findTimeZone(userId)) ?? DEFAULT_TIME_ZONE;
}

interface Grant {
  readonly userId: string;
  /** First day that the app may see (YYYY-MM-DD); null for no limit. */
  readonly dataFrom: string | null;
}

/** Start of the grant's data window: midnight in the user's zone; null for no limit. */
export async function findSince(profiles: ProfileStore, grant: Grant): Promise<Date | null> {
  return grant.dataFrom === null ? null : (await findOwnWindow(profiles, grant)).since;
}

/** The user's zone, and the start of the grant's data window in it. */
export async function findOwnWindow(
  profiles: ProfileStore,
  { userId, dataFrom }: Grant,
): Promise<{ timeZone: string; since: Date | null }> {
  const timeZone = await getTimeZone(profiles, userId);
  return { timeZone, since: dataFrom === null ? null : startOfDay(dataFrom, timeZone) };
}

// No user has this many rows, and it fits into the database's integers.
const MAX_OFFSET = 2 ** 31 - 1;

/** The rows of a page. */
export function toSlice(query: { readonly page: number; readonly pageSize: number }) {
  return { limit: query.pageSize, offset: Math.min((query.page - 1) * query.pageSize, MAX_OFFSET) };
}
