import type { Listed, Page } from '@phds/catalog/pagination';
import { notFound } from '@phds/service-kit/errors';
import type { AccessDay, AccessEntry, AppUsage, RefusalCount } from '../domain/access.ts';
import type { AccessFilter, AccessHistoryStore, AppUsageStore, DayFilter, DayRange } from './access-ports.ts';

/** Number of accesses in one piece of an export; with the longest texts they fit into one message. */
const EXPORT_PIECE = 500;

/** The access history of a person, and the usage of an app. */
export interface Accesses {
  /** Throws `not_found` for another user's grant. */
  list(userId: string, filter: AccessFilter, page: Page): Promise<Listed<AccessEntry>>;
  /**
   * One piece of the history for an export, older than the access with that UUID; empty at the end. Throws the same errors as
   * `list`.
   */
  exportPiece(userId: string, filter: AccessFilter, afterUuid: string | null): Promise<AccessEntry[]>;
  /** Throws `not_found` for another user's grant. */
  days(userId: string, filter: DayFilter, range: DayRange | null): Promise<AccessDay[]>;
  /** Throws `not_found` unless the user owns the app. */
  usage(clientId: string, ownerId: string, range: DayRange | null): Promise<AppUsage[]>;
  /** Adds a gateway's counts to the usage of apps. */
  addRefusals(refusals: readonly RefusalCount[]): Promise<void>;
}

export function createAccesses(dependencies: {
  readonly history: AccessHistoryStore;
  readonly appUsage: AppUsageStore;
}): Accesses {
  const { history, appUsage } = dependencies;
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
    async days(userId, filter, range) {
      const days = await history.days(userId, filter, range);
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
