import type { CallOptions } from './http.ts';
import type { Reading, ReadingQuery } from './resources.ts';

/** A reading that is new or was changed, or the mark that it was deleted. */
export type Change =
  | (Reading & { readonly updatedAt: string; readonly deleted: false })
  | (Pick<Reading, 'id' | 'type' | 'timestamp'> & { readonly updatedAt: string; readonly deleted: true });

/** Some changes, oldest change first, and where the next call goes on. */
export interface SyncBatch {
  readonly changes: readonly Change[];
  /** Store it in the same transaction as the changes. */
  readonly cursor: string;
  /** Whether more changes are there already. */
  readonly hasMore: boolean;
  /** The latest change of the category that the app may see; null when there is none. */
  readonly lastDataAt: string | null;
  /** The person's IANA time zone. */
  readonly timeZone: string;
}

export interface SyncOptions extends CallOptions {
  /** From the last batch that you stored. Absent or null: everything, from the beginning. */
  readonly cursor?: string | null;
  readonly type?: NonNullable<ReadingQuery['type']>;
  /** 100 by default, which is the largest. */
  readonly pageSize?: number;
}

/** An answer of `GET /api/v1/health-data/:category?updatedSince=`. */
export interface SyncAnswer {
  readonly data: readonly Change[];
  readonly sync: Omit<SyncBatch, 'changes'>;
}

const BEGINNING = '1970-01-01T00:00:00Z';

/** Reads batches until there are no more changes. At least one batch, which may be empty. */
export async function* readChanges(
  options: SyncOptions,
  read: (updatedSince: string) => Promise<SyncAnswer>,
): AsyncGenerator<SyncBatch, void, undefined> {
  for (let place = options.cursor ?? BEGINNING; ; ) {
    const { data, sync } = await read(place);
    yield { changes: data, ...sync };
    if (!sync.hasMore) return;
    place = sync.cursor;
  }
}
