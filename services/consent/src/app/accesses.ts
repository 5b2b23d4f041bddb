import type { Listed, Page } from '@phds/catalog/pagination';
import type { Clock } from '@phds/service-kit/clock';
import { notFound } from '@phds/service-kit/errors';
import type { AccessDay, AccessEntry, AppUsage, RefusalCount } from '../domain/access.ts';
import { latestDays, toLocalDays } from '../domain/local-days.ts';
import type { AccessFilter, AccessHistoryStore, AppUsageStore, DayFilter, DayRange } from './access-ports.ts';

/** Number of accesses in one piece of an export; with the longest texts they fit into one message. */
const EXPORT_PIECE = 500;
const USUAL_DAYS = 30;

/** The access history of a person, and the usage of an app. */
export interface Accesses {
  /** Throws `not_found` for another user's grant. */
  list(userId: string, filter: AccessFilter, page: Page): Promise<Listed<AccessEntry>>;
  /**
   * One piece of the history for an export, older than the access with that UUID; empty at the end. Throws the same errors as
   * `list`.
   */
  exportPiece(userId: string, filter: AccessFilter, afterUuid: string | null): Promise<AccessEntry[]>;
  /**
   * By day of a time zone, of UTC if it is null. A null range means the last 30 days. Throws `not_found` for another user's grant.
   */
  days(
    userId: string,
    filter: DayFilter,
    range: DayRange | null,
    timeZone: string | null,
  ): Promise<AccessDay[]>;
  /** Throws `not_found` unless the user owns the app. */
  usage(clientId: string, ownerId: string, range: DayRange | null): Promise<AppUsage[]>;
  /** Adds a gateway's counts to the usage of apps. */
  addRefusals(refusals: readonly RefusalCount[]): Promise<void>;
}

export function createAccesses(dependencies: {
  readonly history: AccessHistoryStore;
  readonly appUsage: AppUsageStore;
  readonly clock: Clock;
}): Accesses {
  const { history, appUsage, clock } = dependencies;
  const listDays = (userId: string, filter: DayFilter, range: DayRange | null, timeZone: string | null) => {
    if (timeZone === null || timeZone === 'UTC') return history.days(userId, filter, range);
    const days =
      range === null
        ? latestDays(USUAL_DAYS, clock.now(), timeZone)
        : toLocalDays(range.from, range.to, timeZone);
    return history.localDays(userId, filter, days);
  };
  return {
    async list(userId, filter, page) {
      const listed = await history.list(userId, filter, page);
      if (listed === null) throw notFound();
      return listed;
    },
    async exportPiece(userId, filter, afterUuid) {
      const entries = await history.listBefore(userId, filter, afterUuid, EXPORT_PIECE);
      if (entries === null) throw notFound();
      return entries;
    },
    async days(userId, filter, range, timeZone) {
      const days = await listDays(userId, filter, range, timeZone);
      if (days === null) throw notFound();
      return days;
    },
    async usage(clientId, ownerId, range) {
      const usage = await appUsage.usage(clientId, ownerId, range);
      if (usage === null) throw notFound();
      return usage;
    },
    addRefusals: (refusals) => appUsage.addRefusals(refusals),
  };
}
