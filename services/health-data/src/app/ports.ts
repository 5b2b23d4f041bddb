import type { Category } from '@phds/catalog/categories';
import type { MetricKey } from '@phds/catalog/metrics';
import type { TrendBucket } from '@phds/catalog/wire-names';
import type { ImportKey, ImportProgress, ImportState, ImportStatus } from '../domain/import-progress.ts';
import type { Profile, ProfileChanges } from '../domain/profile.ts';
import type { NewReading, Reading, ReadingKey } from '../domain/reading.ts';
import type { RecordKind, RecordTypes, Stored, WeightEntry } from '../domain/records.ts';
import type { MetricSummary, TrendPoint } from '../domain/summary.ts';
import type { Range } from '../domain/window.ts';

// Every promise below holds for one user's rows alone: no query of these ports reaches over two users. Stores throw
// AppError: `unavailable` when the database cannot be asked, else `internal`; writes that are part of an import (`during`)
// `not_found` when that does not exist: the person was erased since it began.

/** One page of a list, with the number of items on all pages. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** Which part of a list. */
export interface Slice {
  readonly limit: number;
  readonly offset: number;
}

export interface ReadingQuery extends Slice {
  readonly userId: string;
  readonly category: Category;
  /** Null is every type of the category. */
  readonly metric: MetricKey | null;
  /** Judges the start of the interval: `from` inclusive, `to` exclusive. */
  readonly range: Range;
}

export interface ReadingReader {
  /**
   * Newest first, ties by type, source and end; never by row id, which depends on the user id. A slice beyond the end is empty, with the
   * true total.
   */
  list(query: ReadingQuery): Promise<Page<Reading>>;
}

export interface SummaryQuery {
  /** The app that asks, or the person themselves: what is scarce is shared fairly between those who ask. */
  readonly askedBy: string;
  readonly userId: string;
  readonly metrics: readonly MetricKey[];
  readonly timeZone: string;
  /** Judges the instant that decides the bucket: the start, for sleep the end. */
  readonly range: Range;
  /** No reading that starts earlier counts; null is everything. */
  readonly since: Date | null;
}

/**
 * Summaries computed from the readings. Additive types are freed of doubles first: per local hour the source with the
 * largest sum counts; for sleep per local date of waking up, since one interval spans many hours.
 */
export interface SummaryReader {
  /** One for each metric type with readings, in the order of `metrics`. */
  summarise(query: SummaryQuery): Promise<readonly MetricSummary[]>;
  /** Newest first, then in the order of `metrics`; buckets without readings do not exist. */
  trend(query: SummaryQuery & Slice & { readonly bucket: TrendBucket }): Promise<Page<TrendPoint>>;
}

export interface WeightQuery extends Slice {
  readonly userId: string;
  readonly timeZone: string;
  /** Judges the local date, by its midnight UTC. */
  readonly dates: Range;
  /** No reading that starts earlier counts. */
  readonly since: Date | null;
}

export interface WeightReader {
  /** The latest Weight reading of each local date, newest first. */
  list(query: WeightQuery): Promise<Page<WeightEntry>>;
}

export interface RecordQuery extends Slice {
  readonly userId: string;
  /** Judges the time or first day that the kind is ordered by; ignored by medications, which have none. */
  readonly range: Range;
  /** For reports: no earlier first day of what they cover, as midnight UTC. */
  readonly coverFrom?: Date | null;
  /** For adherence entries: those of this medication. */
  readonly medicationId?: string;
}

export interface RecordReader {
  /**
   * Newest first, unknown `sinceOn` last; medications by name. Ties by what the items show, and by row id only where they show the same,
   * because row ids depend on the user id.
   */
  list<Kind extends RecordKind>(kind: Kind, query: RecordQuery): Promise<Page<Stored<Kind>>>;
  /** Whether the user has this medication. */
  hasMedication(userId: string, medicationId: string): Promise<boolean>;
}

export interface ProfileStore {
  /** Null when nothing is known. */
  find(userId: string): Promise<Profile | null>;
  /** The user's zone; null when they have named none. */
  findTimeZone(userId: string): Promise<string | null>;
}

export interface ProfileWriter {
  /** Sets what is present, leaves the rest. Throws INVALID_REQUEST for a zone that the database does not know. */
  put(userId: string, changes: ProfileChanges, during?: ImportKey | null): Promise<void>;
}

/** Rollups that readings are summarised from: kept with every write, and rebuilt where that was not possible. */
export interface RollupStore {
  /**
   * Walks the users who have readings, by id and `limit` at a time: which of those after the id `after` have rollups that
   * must be rebuilt, and where to go on; `last` is null at the end.
   */
  findStale(
    after: string,
    limit: number,
  ): Promise<{ readonly userIds: readonly string[]; readonly last: string | null }>;
  /** Rebuilds unless that has become needless; answers whether it did. Rejects soon after the signal. */
  rebuild(userId: string, signal: AbortSignal): Promise<boolean>;
}

/** What became of the items of a batch that were accepted. */
export interface WriteCounts {
  readonly inserted: number;
  readonly updated: number;
  /** Stored already, the same. */
  readonly unchanged: number;
}

/** A new row with its id, which is the hash of its natural key. */
export type Identified<Row> = Row & { readonly id: string };

/** Every reading of a type in a window of starts. */
export interface ReadingWindow {
  readonly metric: MetricKey;
  /** Null is every source. */
  readonly source: string | null;
  readonly range: Range;
}

/** Writes of one user happen one after another, however many importers there are. */
export interface ReadingWriter {
  /** Ids are distinct. A row that exists gets the new value. One transaction. */
  put(
    userId: string,
    readings: readonly Identified<NewReading>[],
    during?: ImportKey | null,
  ): Promise<WriteCounts>;
  /**
   * Deletes by key and by window; answers how many there were. A window takes as many transactions as its readings need. After an
   * error some readings may be left, with counts and summaries that agree with them, and a repeat deletes them.
   */
  delete(
    userId: string,
    keys: readonly Identified<ReadingKey>[],
    windows: readonly ReadingWindow[],
  ): Promise<number>;
}

/** A record ready to be stored. */
export type NewRecord<Kind extends RecordKind = RecordKind> = {
  [K in Kind]: {
    readonly kind: K;
    readonly id: string;
    readonly source: string;
    readonly fields: RecordTypes[K];
  };
}[Kind];

export interface RecordWriter {
  /** Kind and id together are distinct. A row that exists gets the new content. */
  put(userId: string, records: readonly NewRecord[], during?: ImportKey | null): Promise<WriteCounts>;
  /** Deletes by id; a medication takes its adherence entries along, which are not counted. */
  delete(
    userId: string,
    keys: readonly { readonly kind: RecordKind; readonly id: string }[],
  ): Promise<number>;
}

export interface ImportStore {
  /**
   * Begins an import, or goes on with one that has not finished, at the position of its furthest report; with `again`, and
   * after one that finished, a new run at the start.
   */
  start(key: ImportKey, size: number, again: boolean, now: Date): Promise<ImportProgress>;
  /**
   * Keeps the furthest report of the latest run: what is behind it, what belongs to an earlier run, and whatever follows
   * the end of the run changes nothing. Answers false when there is no such import.
   */
  report(key: ImportKey, progress: ImportProgress, state: ImportState, now: Date): Promise<boolean>;
  /** The one started last first. */
  list(userId: string, limit: number): Promise<readonly ImportStatus[]>;
}

export interface UserEraser {
  /**
   * Removes every row of the user; what takes long goes on when the caller has gone. After an error some rows may be left, which
   * agree with each other, and a repeat removes them.
   */
  erase(userId: string): Promise<void>;
}

/** What a recorded access came to, judged after the record was durable (contract section 8). */
export type Verdict =
  | 'released'
  | 'token_expired'
  | 'token_revoked'
  | 'family_revoked'
  | 'grant_revoked'
  | 'grant_expired'
  | 'scope_withdrawn'
  | 'app_not_alive'
  | 'window_changed'
  | 'restore_unconfirmed';

/** One answer about to be released. Never values, never tokens. */
export interface Access {
  readonly clientId: string;
  readonly userId: string;
  readonly grantId: string;
  readonly familyId: string;
  /** SHA-256 of the access token, base64url. */
  readonly tokenHash: string;
  /** Unix seconds. */
  readonly tokenExpiresAt: number;
  readonly scope: string;
  /** Path of the public interface, such as `/api/v1/health-data/heart`. */
  readonly endpoint: string;
  /** As asked for; empty is unbounded. */
  readonly from: string;
  readonly to: string;
  readonly page: number;
  readonly recordCount: number;
  readonly requestId: string;
  /** The window that the answer was computed for (YYYY-MM-DD); null is everything. */
  readonly dataFrom: string | null;
}

export interface AccessRecorder {
  /**
   * Resolves with the verdict once the record is durable. Rejects with `access_not_recorded` when that is not known to
   * have happened: nothing may be released then.
   */
  record(access: Access): Promise<Verdict>;
}
