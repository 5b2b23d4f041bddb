import type { Listed, Page } from '@phds/catalog/pagination';
import type { AccessRecord } from '@phds/record-chain/access-record';
import type { ChainedBatch } from '@phds/record-chain/chain';
import type { ChainHead } from '@phds/record-chain/checkpoint';
import type { Access, AccessDay, AccessEntry, AppUsage, Judgement, RefusalCount } from '../domain/access.ts';

// As in ports.ts, every method commits before it answers and throws `unavailable` while the database is away.

/** A batch of a writer's chain with its access records, in their order. */
export interface AccessRecordBatch extends ChainedBatch {
  readonly accessRecords: readonly AccessRecord[];
}

/** The hot path of every data request (contract section 8). The steps are separate on purpose. */
export interface AccessRecordStore {
  /** By what reference the records of each grant name its person, fixed when the grant is made; unknown grants are left out. */
  findRefs(grantIds: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>>;
  /** Durable, and committed, when it answers. All or none. */
  insert(batch: AccessRecordBatch): Promise<void>;
  /** Judges in a snapshot taken after the call began; one judgement each, in order. References are those of the records. */
  judge(accesses: readonly Access[], userRefs: readonly Uint8Array[]): Promise<Judgement[]>;
}

/** People who ever gave a consent. Access records name them by 16 random bytes for as long as they are not erased. */
export interface PersonStore {
  /**
   * Removes everything that tells of a person: grants, decisions and the link to the records. A person who was erased before
   * is nobody, as one who never was.
   */
  erase(userId: string): Promise<Erasure>;
}

/** What the erasure of a person removed. */
export interface Erasure {
  readonly grantIds: readonly string[];
  readonly pendingApprovals: number;
}

export interface AccessFilter {
  readonly grantId: string | null;
  readonly clientId: string | null;
  readonly scope: string | null;
  /** Inclusive and exclusive. */
  readonly from: Date | null;
  readonly to: Date | null;
}

/** What counts of days are filtered by. */
export type DayFilter = Pick<AccessFilter, 'grantId' | 'clientId' | 'scope'>;

/** UTC dates, inclusive. */
export interface DayRange {
  readonly from: string;
  readonly to: string;
}

export interface AccessHistoryStore {
  /** null when the filter names a grant that is not the user's. */
  list(userId: string, filter: AccessFilter, page: Page): Promise<Listed<AccessEntry> | null>;
  /** Up to so many, newest first, older than the record of that UUID; null as above. */
  listBefore(
    userId: string,
    filter: AccessFilter,
    uuid: string | null,
    limit: number,
  ): Promise<AccessEntry[] | null>;
  /** Newest day first, then by app; a range of null is the last 30 days. null as above. */
  days(userId: string, filter: DayFilter, range: DayRange | null): Promise<AccessDay[] | null>;
}

/** The usage of apps, for their developers. */
export interface AppUsageStore {
  /** A range of null is the last 30 days. Answers null when the user does not own the app. */
  usage(clientId: string, ownerId: string, range: DayRange | null): Promise<AppUsage[] | null>;
  /** Adds to what is counted; those of unknown apps are left out. All or none. */
  addRefusals(refusals: readonly RefusalCount[]): Promise<void>;
}

/** Counts records by day, so that reading the counts never scans them. */
export interface AccessCountStore {
  /** Adds some of the batches that are not counted yet, each exactly once whoever does it; answers how many. */
  countNext(atMost: number): Promise<number>;
}

/** The months that records are kept in. */
export interface PartitionStore {
  /**
   * Prepares one of the months that are missing: this one, those ahead, or an older one whose records have no partition of their own.
   * Answers false when none is missing.
   */
  ensureNext(monthsAhead: number): Promise<boolean>;
  /** Drops the oldest month if it ended before the days to keep; answers its name, or null. Its counts are told no more. */
  dropNext(keepDays: number): Promise<string | null>;
  /** Deletes some of the counts that are told no more; answers where to go on, null at the end. Begins where null is given. */
  deleteCounts(place: CountsPlace | null): Promise<CountsPlace | null>;
}

/** A place in the order that counts are deleted in. */
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

/** The chains as a checkpoint sees them. */
export interface ChainState {
  /** The checkpoints from the last base on, in order: the last at least; empty before the first. */
  readonly recent: readonly StoredCheckpoint[];
  /** Heads of every chain that was written to since a while before the last checkpoint. */
  readonly heads: readonly ChainHead[];
  /** Since when records have been kept; null when none were dropped. */
  readonly keptFrom: Date | null;
}

export interface CheckpointStore {
  /** null when the present interval, by the database's clock, has a checkpoint already. An interval of null never has. */
  read(intervalMs: number | null): Promise<ChainState | null>;
  /** false when there is one of that number already. */
  add(number: number, jws: string): Promise<boolean>;
  findLast(): Promise<StoredCheckpoint | null>;
  /** Some checkpoints from that number on, in order; empty at the end. */
  readFrom(number: number): Promise<StoredCheckpoint[]>;
  /** The last dropped batch of each chain that has any. */
  findDropped(): Promise<ReadonlyMap<string, number>>;
  /** Deletes some checkpoints of lower numbers, none from after the records that are kept; answers how many. */
  drop(firstKept: number): Promise<number>;
}
