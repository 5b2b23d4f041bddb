import type { Category } from '@phds/catalog/categories';
import type { SandboxPerson } from '@phds/catalog/sandbox';
import type { HealthRecordDraft } from '../domain/health-records.ts';
import type { ProfileDraft } from '../domain/profile.ts';
import type { ReadingDraft } from '../domain/reading.ts';

/** Data of a made-up person. The same person and times always give the same data. */
export interface Life {
  /** Null when there is none, or none to add. */
  readonly profile: ProfileDraft | null;
  readonly readings: Iterable<ReadingDraft>;
  readonly records: Iterable<HealthRecordDraft>;
}

/** Makes up the people of sandbox apps. */
export interface SandboxLives {
  /** All data of the person up to the first use. */
  begin(person: SandboxPerson, userId: string, begunAt: Date): Life;
  /** What was measured since; nothing for people who measure nothing regularly. */
  proceed(person: SandboxPerson, userId: string, from: Date, until: Date): Life;
  /** Whether readings arrive by themselves. */
  keepsArriving(person: SandboxPerson): boolean;
}

export interface UsedPerson {
  readonly begunAt: Date;
  readonly madeUntil: Date | null;
}

/** The sandbox people who were used. */
export interface SandboxPeopleStore {
  /** Notes the use; `arrivesAt` is when the next reading arrives by itself, null for never. */
  use(userId: string, now: Date, arrivesAt: Date | null): Promise<UsedPerson>;
  /** Notes that data is made up to a time. Returns false when the person was erased meanwhile. */
  made(userId: string, until: Date): Promise<boolean>;
  /** Counts a change and notes the use; returns false when the person is not known or has no change left. */
  countChange(userId: string, now: Date, max: number): Promise<boolean>;
  /**
   * Takes up to `limit` people whose next reading is due and who were used since `usedSince`, counts the change and sets when the one
   * after arrives. Concurrent calls take different people.
   */
  takeArrivals(due: ArrivalsDue): Promise<string[]>;
  /** The newest reading of a category that has a value; null if there is none. */
  findNewest(userId: string, category: Category): Promise<(ReadingDraft & { readonly value: number }) | null>;
  /** Up to `limit` people who were not used since. */
  findUnused(usedBefore: Date, limit: number): Promise<string[]>;
  /** Those among these ids that were used and not erased. */
  findUsed(userIds: readonly string[]): Promise<string[]>;
}

export interface ArrivalsDue {
  readonly now: Date;
  readonly next: Date;
  readonly usedSince: Date;
  readonly maxChanges: number;
  readonly limit: number;
}
