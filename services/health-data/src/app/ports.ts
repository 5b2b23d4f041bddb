import type { Category } from '@phds/catalog/categories';
import type { TimeBounds } from '@phds/catalog/fhir/dates';
import type { MetricKey } from '@phds/catalog/metrics';
import type { TrendBucket } from '@phds/catalog/wire-names';
import type {
  HealthRecordDraft,
  HealthRecordKind,
  HealthRecordTypes,
  Stored,
} from '../domain/health-records.ts';
import type { ImportKey, ImportProgress, ImportState, ImportStatus } from '../domain/import-progress.ts';
import type { Profile, ProfileChanges, ProfileDraft } from '../domain/profile.ts';
import type { NewReading, Reading, ReadingDraft, ReadingKey, ReadingSpan } from '../domain/reading.ts';
import type { MetricSummary, TrendPoint } from '../domain/summary.ts';
import type { Range } from '../domain/window.ts';
import type { Caller } from './caller.ts';

// Each method works on the rows of one user only. A statement may answer several calls, each with the rows of its own user. Stores
// throw AppError: `unavailable` if the database cannot be reached, else `internal`. Writes that belong to an import (`during`) throw `not_found` if it does not exist, because
// the person was erased since it started.

/** One page of a list, with the number of items on all pages. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** A part of a list. */
export interface Slice {
  readonly limit: number;
  readonly offset: number;
}

export interface ReadingQuery extends Slice {
  readonly userId: string;
  readonly category: Category;
  /** Null for every type of the category. */
  readonly metric: MetricKey | null;
  /** Filters by the start of the interval: `from` inclusive, `to` exclusive. */
  readonly range: Range;
}

export interface ReadingReader {
  /**
   * Newest first; ties by type, source and end, never by row id, which depends on the user id. A slice beyond the end is empty,
   * with the true total.
   */
  list(query: ReadingQuery): Promise<Page<Reading>>;
}

/** Readings of several categories, or of several metric types, by both of their times. */
export interface ReadingSpanQuery {
  readonly userId: string;
  readonly by: 'category' | 'type';
  readonly subjects: readonly {
    readonly key: Category | MetricKey;
    /** Readings of this source are left out; null for none. */
    readonly avoidedSource: string | null;
  }[];
  /** Starts (Unix milliseconds) of the readings that are looked for; null for any. */
  readonly starts: readonly number[] | null;
  readonly when: TimeBounds;
}

export interface ReadingSpanReader {
  /** The newest by start, in no order: at least `limit` if there are, and all that start together with the last one. */
  listNewest(query: ReadingSpanQuery & { readonly limit: number }): Promise<readonly ReadingSpan[]>;
  /** The two halves of a blood pressure count once; null for more than `COUNTED_MAX` readings, because each takes some microseconds. */
  count(query: ReadingSpanQuery): Promise<number | null>;
}

export interface SummaryQuery {
  /** The app or person that asks; scarce resources are shared fairly between them. */
  readonly askedBy: string;
  readonly userId: string;
  readonly metrics: readonly MetricKey[];
  readonly timeZone: string;
  /** Filters by the instant that determines the bucket: the start, for sleep the end. */
  readonly range: Range;
  /** Readings that start earlier do not count; null for no limit. */
  readonly since: Date | null;
}

/**
 * Summaries of the readings. For additive types, duplicates are removed first: in each local hour the source with the
 * largest sum counts; for sleep in each local date of waking up, because one interval spans many hours.
 */
export interface SummaryReader {
  /** One for each metric type with readings, in the order of `metrics`. */
  summarise(query: SummaryQuery): Promise<readonly MetricSummary[]>;
  /** Newest first, then in the order of `metrics`; buckets without readings are omitted. */
  trend(query: SummaryQuery & Slice & { readonly bucket: TrendBucket }): Promise<Page<TrendPoint>>;
}

export interface WeightQuery extends Slice {
  readonly userId: string;
  readonly timeZone: string;
  /** Filters by the local date, given as its midnight UTC. */
  readonly dates: Range;
  /** Readings that start earlier do not count. */
  readonly since: Date | null;
}

/** One weight for each local day, from the Weight readings. */
export interface WeightEntry {
  /** Id of the reading. */
  readonly id: string;
  readonly weightKg: number;
  /** Start of the reading: RFC 3339, UTC. */
  readonly timestamp: string;
  /** YYYY-MM-DD in the user's zone. */
  readonly date: string;
}

export interface WeightReader {
  /** The latest Weight reading of each local date, newest first. */
  list(query: WeightQuery): Promise<Page<WeightEntry>>;
}

export interface HealthRecordQuery extends Slice {
  readonly userId: string;
  /** Filters by the time or first day that orders the kind; ignored by medications, which have none. */
  readonly range: Range;
  /** For reports: the earliest first day of the covered period, as midnight UTC. */
  readonly coverFrom?: Date | null;
  /** For adherence entries: those of this medication. */
  readonly medicationId?: string;
}

/** A dose with the name of its medication. */
export type NamedDose = Stored<'adherence-entry'> & { readonly medication: string };

/** A record as it is found among all of its kind. */
export type Found<Kind extends HealthRecordKind> = Kind extends 'adherence-entry' ? NamedDose : Stored<Kind>;

export interface DoseQuery {
  readonly userId: string;
  /** Earlier doses do not count; null for no limit. */
  readonly since: Date | null;
  readonly limit: number;
}

/** Records by the times that the FHIR interface shows. */
export interface DatedRecordQuery {
  readonly userId: string;
  /** Row ids; null for every record. */
  readonly ids: readonly string[] | null;
  /** Limits of `from` and of `coverFrom` as in `HealthRecordQuery`; null for none. */
  readonly since: Date | null;
  readonly coverFrom: Date | null;
  /** For adherence entries. */
  readonly statuses: readonly string[] | null;
  readonly when: TimeBounds;
}

export interface HealthRecordReader {
  /**
   * Newest first, unknown `sinceOn` last; medications by name. Ties are ordered by the visible content, and by row id only if that
   * is equal, because row ids depend on the user id.
   */
  list<Kind extends HealthRecordKind>(kind: Kind, query: HealthRecordQuery): Promise<Page<Stored<Kind>>>;
  /**
   * The newest by start, in no order: at least `limit` if there are, and all of the last time. Kinds without a full date ignore `when`
   * and the limit. Doses are those of medications that the user has.
   */
  listNewest<Kind extends HealthRecordKind>(
    kind: Kind,
    query: DatedRecordQuery & { readonly limit: number },
  ): Promise<readonly Found<Kind>[]>;
  /** The number of records that `listNewest` finds without a limit. */
  count(kind: HealthRecordKind, query: DatedRecordQuery): Promise<number>;
  /** The newest doses of all medications that the user has, for the user's own view. */
  listDoses(query: DoseQuery): Promise<Page<NamedDose>>;
  /** Whether the user has this medication. */
  hasMedication(userId: string, medicationId: string): Promise<boolean>;
}

export interface ProfileStore {
  /** Null when nothing is known. */
  find(userId: string): Promise<Profile | null>;
  /** The user's zone; null if none is set. */
  findTimeZone(userId: string): Promise<string | null>;
}

export interface ProfileWriter {
  /** Sets the present fields and keeps the rest. Throws INVALID_REQUEST for a zone that the database does not know. */
  put(userId: string, changes: ProfileChanges, during?: ImportKey | null): Promise<void>;
}

/** Counts of the accepted items of a batch. */
export interface WriteCounts {
  readonly inserted: number;
  readonly updated: number;
  /** Already stored with the same value. */
  readonly unchanged: number;
}

/** A new row with its id, the hash of its natural key. */
export type Identified<Row> = Row & { readonly id: string };

/** Every reading of a type whose start is in a window. */
export interface ReadingWindow {
  readonly metric: MetricKey;
  /** Null for every source. */
  readonly source: string | null;
  readonly range: Range;
}

/** Writes of one user are serialised, however many importers there are. */
export interface ReadingWriter {
  /** Ids are distinct. An existing row gets the new value. One transaction. */
  put(
    userId: string,
    readings: readonly Identified<NewReading>[],
    during?: ImportKey | null,
  ): Promise<WriteCounts>;
  /**
   * Deletes by key and by window. Returns the number deleted. A window takes as many transactions as its readings need. After an
   * error some readings may be left, with consistent counts and summaries; a repeat deletes them.
   */
  delete(
    userId: string,
    keys: readonly Identified<ReadingKey>[],
    windows: readonly ReadingWindow[],
  ): Promise<number>;
}

/** A validated record. */
export interface NewHealthRecord {
  readonly kind: HealthRecordKind;
  readonly id: string;
  readonly source: string;
  readonly fields: HealthRecordTypes[HealthRecordKind];
}

export interface HealthRecordWriter {
  /** Kind and id together are unique. An existing row gets the new content. */
  put(userId: string, records: readonly NewHealthRecord[], during?: ImportKey | null): Promise<WriteCounts>;
  /** Deletes by id. A medication is deleted with its adherence entries, which are not counted. */
  delete(
    userId: string,
    keys: readonly { readonly kind: HealthRecordKind; readonly id: string }[],
  ): Promise<number>;
}

export interface UserEraser {
  /**
   * Removes every row of the user, and continues if the caller disconnects. After an error some rows may be left in a consistent
   * state; a repeat removes them. Returns the number of rows.
   */
  erase(userId: string): Promise<number>;
}

/** A position in the order of the changes of a user: by number of the change, then start, type, source and end of the reading. */
export interface ChangePlace {
  /** The last change that begins before the position; null before all changes. */
  readonly seen: SeenChange | null;
  /** The item of that change before the position; null at its end. */
  readonly item: ChangedKey | null;
}

export interface SeenChange {
  readonly number: number;
  /** Null when it was removed, because the change is old. */
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
  /** The latest change of the user, of any category; null if there is none. */
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

/** The imports of people and how far they got. */
export interface ImportStore {
  /**
   * Starts an import, or resumes an unfinished one at the position of its furthest report. With `again`, or after a finished one,
   * starts a new run at the beginning.
   */
  start(key: ImportKey, size: number, again: boolean, now: Date): Promise<ImportProgress>;
  /**
   * Stores the furthest report of the latest run. A report that is behind it, belongs to an earlier run, or follows the end of the
   * run changes nothing. Returns false if there is no such import.
   */
  report(key: ImportKey, progress: ImportProgress, state: ImportState, now: Date): Promise<boolean>;
  /** Running imports that have reported since then. */
  countRunning(since: Date): Promise<number>;
  /** The latest first. */
  list(userId: string, limit: number): Promise<readonly ImportStatus[]>;
}

/** Data of a made-up person. The same person and times always give the same data. */
export interface Life {
  /** Null when there is none, or none to add. */
  readonly profile: ProfileDraft | null;
  readonly readings: Iterable<ReadingDraft>;
  readonly records: Iterable<HealthRecordDraft>;
}

/** What the sandbox asks about people's data. */
export interface SandboxPeopleStore {
  hasProfile(userId: string): Promise<boolean>;
  /** The newest reading of a category that has a value and starts by then (null: ever), with its row id; null if there is none. */
  findNewest(
    userId: string,
    category: Category,
    until: Date | null,
  ): Promise<(ReadingDraft & { readonly id: string; readonly value: number }) | null>;
}

/** The result of a recorded access, judged after the record was durable. */
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

/** A response about to be released: no values, no tokens. `dataFrom` is the data window used for it. */
export interface Access extends Omit<Caller, 'scopes' | 'sub'> {
  readonly scope: string;
  /** Path of the public interface, such as `/api/v1/health-data/heart`. */
  readonly endpoint: string;
  /** As requested; empty for no bound. */
  readonly from: string;
  readonly to: string;
  readonly page: number;
  readonly recordCount: number;
  readonly requestId: string;
}

export interface AccessRecorder {
  /**
   * Resolves with the verdict once the record is durable. Rejects with `access_not_recorded` if that is uncertain; then nothing may
   * be released.
   */
  record(access: Access): Promise<Verdict>;
}
