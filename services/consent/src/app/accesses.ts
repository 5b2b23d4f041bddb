import type { Listed, Page } from '@phds/catalog/pagination';
import type { Turns } from '@phds/service-kit/batcher';
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
  /** The turns of people, so that one who reads a long history leaves connections to others. */
  readonly historyTurns: Turns;
}): Accesses {
  const { history, appUsage, clock, historyTurns } = dependencies;
  const find = async <T>(userId: string, read: () => Promise<T | null>): Promise<T> => {
    const found = await historyTurns(userId, read);
    if (found === null) throw notFound();
    return found;
  };
  const listDays = (userId: string, filter: DayFilter, range: DayRange | null, timeZone: string | null) => {
    if (timeZone === null || timeZone === 'UTC') return history.days(userId, filter, range);
    const days =
      range === null
        ? latestDays(USUAL_DAYS, clock.now(), timeZone)
        : toLocalDays(range.from, range.to, timeZone);
    return history.localDays(userId, filter, days);
  };
  return {
    list: (userId, filter, page) => find(userId, () => history.list(userId, filter, page)),
    exportPiece: (userId, filter, afterUuid) =>
      find(userId, () => history.listBefore(userId, filter, afterUuid, EXPORT_PIECE)),
    days: (userId, filter, range, timeZone) => find(userId, () => listDays(userId, filter, range, timeZone)),
    usage: (clientId, ownerId, range) => find(ownerId, () => appUsage.usage(clientId, ownerId, range)),
    addRefusals: (refusals) => appUsage.addRefusals(refusals),
  };
}
