import type { components } from './generated/openapi.ts';
import type { CallOptions } from './http.ts';
import type { ReadingQuery } from './resources.ts';

/** An answer of `GET /api/v1/health-data/:category?updatedSince=`. */
export type SyncAnswer = components['schemas']['Changes'];

/** A reading that is new or was changed, or, with `deleted: true`, the mark that it was deleted. */
export type Change = SyncAnswer['data'][number];

/** Some changes, oldest change first, and where the next call goes on: store `cursor` in the same transaction as the changes. */
export type SyncBatch = SyncAnswer['sync'] & { readonly changes: readonly Change[] };

export interface SyncOptions extends CallOptions {
  /** From the last batch that you stored. Absent or null: everything, from the beginning. */
  readonly cursor?: string | null;
  readonly type?: NonNullable<ReadingQuery['type']>;
  /** 100 by default, which is the largest. */
  readonly pageSize?: number;
  /** Called with each wait before it begins, in milliseconds: a sync of many pages waits for the limits of the service. */
  readonly onWait?: (waitMs: number) => void;
}

const BEGINNING = '1970-01-01T00:00:00Z';

/** Reads batches until there are no more changes. At least one batch. Any may be empty, also one that has more behind it. */
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
