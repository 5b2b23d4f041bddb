import type { Listed, Page } from '@phds/catalog/pagination';
import type { AccessRecord } from '@phds/record-chain/access-record';
import type { ChainedBatch } from '@phds/record-chain/chain';
import type { ChainHead } from '@phds/record-chain/checkpoint';
import type { Access, AccessDay, AccessEntry, AppUsage, Judgement, RefusalCount } from '../domain/access.ts';
import type { LocalDays } from '../domain/local-days.ts';

// Every method commits before it returns and throws `unavailable` when the database is unavailable.

/** A batch of a writer's chain with its access records, in order. */
export interface AccessRecordBatch extends ChainedBatch {
  readonly accessRecords: readonly AccessRecord[];
}

/** The hot path of every data request. Recording and judging are separate steps on purpose. */
export interface AccessRecordStore {
  /**
   * The references by which the records of each grant identify its person, fixed when the grant is created. Unknown grants are
   * omitted.
   */
  findRefs(grantIds: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Durable and committed when it returns; all or nothing. */
  insert(batch: AccessRecordBatch): Promise<void>;
  /** Judges in a snapshot taken after the call began. Returns one judgement each, in order. References are those of the records. */
  judge(accesses: readonly Access[], userRefs: readonly Uint8Array[]): Promise<Judgement[]>;
}

export interface AccessFilter {
  readonly grantId: string | null;
  readonly clientId: string | null;
  /** Name of a scope, which a record may name among others. */
  readonly scope: string | null;
  /** `from` is inclusive, `to` exclusive. */
  readonly from: Date | null;
  readonly to: Date | null;
}

/** The filters of daily counts. */
export type DayFilter = Pick<AccessFilter, 'grantId' | 'clientId' | 'scope'>;

/** UTC dates, inclusive. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

export interface AccessHistoryStore {
  /** Null when the filter names a grant of another user. */
  list(userId: string, filter: AccessFilter, page: Page): Promise<Listed<AccessEntry> | null>;
  /** At most `limit`, newest first, older than the record with that UUID; null as above. */
  listBefore(
    userId: string,
    filter: AccessFilter,
    uuid: string | null,
    limit: number,
  ): Promise<AccessEntry[] | null>;
  /** By UTC day, newest first, then by app. A null range means the last 30 days. Null as above. */
  days(userId: string, filter: DayFilter, range: DayRange | null): Promise<AccessDay[] | null>;
  /** The same by day of a time zone. */
  localDays(userId: string, filter: DayFilter, days: LocalDays): Promise<AccessDay[] | null>;
}

/** The usage of apps, for their developers. */
export interface AppUsageStore {
  /** A null range means the last 30 days. Returns null when the user does not own the app. */
  usage(clientId: string, ownerId: string, range: DayRange | null): Promise<AppUsage[] | null>;
  /** Adds to the counts, ignoring those of unknown apps; all or nothing. */
  addRefusals(refusals: readonly RefusalCount[]): Promise<void>;
}

/** Counts records by UTC day and quarter hour, so that reading the counts does not scan records. */
export interface AccessCountStore {
  /** Counts some of the uncounted batches, each exactly once even with concurrent callers. Returns how many. */
  countNext(atMost: number): Promise<number>;
}

/** The monthly partitions of access records. */
export interface PartitionStore {
  /**
   * Creates one missing partition: of this month, of one ahead, or of an older month with records in the default partition. Returns
   * false when none is missing.
   */
  ensureNext(monthsAhead: number): Promise<boolean>;
  /**
   * Drops the oldest month if it ended before the retention period. Returns its name, or null. Its counts are hidden from then on.
   */
  dropNext(keepDays: number): Promise<string | null>;
  /** Deletes some of the hidden counts, starting at `place` (null for the beginning). Returns where to continue; null at the end. */
  deleteCounts(place: CountsPlace | null): Promise<CountsPlace | null>;
}

/** A position in the order in which counts are deleted. */
export interface CountsPlace {
  readonly clientId: string;
  /** `YYYY-MM-DD`. */
  readonly day: string;
}

/** A stored checkpoint. */
export interface StoredCheckpoint {
  readonly number: number;
  readonly jws: string;
}

/** The chains at the time of a checkpoint. */
export interface ChainState {
  readonly last: StoredCheckpoint | null;
  /** Heads of all chains written to since a day before the last checkpoint. */
  readonly heads: readonly ChainHead[];
  /** Start of the kept records; null when none were dropped. */
  readonly keptFrom: Date | null;
}

export interface CheckpointStore {
  /** Null when the current interval, by the database's clock, already has a checkpoint. With a null interval it never has one. */
  read(intervalMs: number | null): Promise<ChainState | null>;
  /** Returns false when the number is already taken. */
  add(number: number, jws: string): Promise<boolean>;
}
