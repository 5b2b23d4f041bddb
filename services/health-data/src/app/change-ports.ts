import type { Category } from '@phds/catalog/categories';
import type { MetricKey } from '@phds/catalog/metrics';
import type { Reading } from '../domain/reading.ts';

/** A position in the order of the changes of a user: by number of the change, then start, type, source and end of the reading. */
export interface ChangePlace {
  /** The last change that begins before the position; null before all changes. `at` is null if it has no time. */
  readonly seen: SeenChange | null;
  /** The item of that change before the position; null at its end. */
  readonly item: ChangedKey | null;
}

export interface SeenChange {
  readonly number: number;
  readonly at: Date | null;
}

/** The place before all changes. */
export const START: ChangePlace = { seen: null, item: null };

export interface ChangedKey {
  readonly startAt: Date;
  readonly metric: string;
  readonly source: string;
  readonly endAt: Date;
}

/** The latest change of a reading. */
export interface ReadingChange {
  /** A deleted reading has the value null. */
  readonly reading: Reading;
  readonly isDeleted: boolean;
  readonly place: ChangePlace;
}

export interface ReadingChangeQuery {
  readonly userId: string;
  readonly category: Category;
  /** Null for every type of the category. */
  readonly metric: MetricKey | null;
  /** Readings that start earlier are left out; null for no limit. */
  readonly since: Date | null;
  readonly limit: number;
  readonly from: ChangePlace;
  /** A change that was there when the reader got the cursor; null if there was none. */
  readonly anchor: SeenChange | null;
}

export interface ReadingChanges {
  readonly items: readonly ReadingChange[];
  /** Whether there may be more of them behind `next`. Also true when the search for a type ended early; never because of hidden changes. */
  readonly hasMore: boolean;
  /** Behind the last item, or further, where the search ended; behind all changes of the user if there are no more items. */
  readonly next: ChangePlace;
  /** Whether `anchor` is still there, and so everything that was before it, apart from later changes. */
  readonly isHeld: boolean;
  /** The latest change of the user, of any category; null if none has a number. */
  readonly latest: SeenChange | null;
  /** The latest change of the category that is not left out by `since`; null if there is none. */
  readonly lastChange: SeenChange | null;
}

/** Changes of readings, including deletions, in the order in which they were committed. */
export interface ReadingChangeReader {
  /** The place before the first change at this time or later. */
  findPlace(userId: string, at: Date): Promise<ChangePlace>;
  /** From one snapshot. */
  list(query: ReadingChangeQuery): Promise<ReadingChanges>;
}

export interface ChangePruning {
  /**
   * Deletes reported changes before a time: in the order of users, those of the next ones behind `after`, at most `limit` changes.
   * The latest of each user before that time stays. Returns the user behind whom the next call goes on; null at the end.
   */
  prune(after: string, before: Date, limit: number): Promise<string | null>;
}
