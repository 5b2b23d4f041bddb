import type { NewNotice, Notice } from '../domain/notice.ts';
import type { EndingGrant, HeavyDay } from '../domain/scanned-grant.ts';

// As in ports.ts, every method commits before it returns, throws `unavailable` when the database is unavailable, and goes by the
// database's clock.

/** The notices in the order in which they are read. */
export interface NoticeFeedStore {
  /**
   * At most `limit` notices with greater numbers than `after`, in order. From then on no notice gets a number up to `after`, nor up to
   * one that the call returned. Null when `after` is more than ten minutes beyond the last number and the present time.
   */
  list(after: number, limit: number): Promise<Notice[] | null>;
}

/** What the search found in a part of the grants. */
export interface ScannedGrants {
  readonly now: Date;
  readonly ending: readonly EndingGrant[];
  readonly heavyDays: readonly HeavyDay[];
}

/** The search for coming ends and unusual reading, shared by all instances. */
export interface NoticeScanStore {
  /**
   * Checks the next grants, at most `size`, and adds the notices that `judge` returns, all in one transaction. A search over all
   * grants begins `intervalMs` after the last one began. Returns false when there is nothing to do now, or when another
   * instance is doing it.
   */
  scanNext(
    options: { readonly intervalMs: number; readonly size: number },
    judge: (scanned: ScannedGrants) => readonly NewNotice[],
  ): Promise<boolean>;
}
