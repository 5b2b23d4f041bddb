import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/user-id';
import type { ImportKey } from '../domain/import-progress.ts';
import {
  parseMetric,
  parseReading,
  parseReadingKey,
  type ReadingDraft,
  type ReadingKeyDraft,
} from '../domain/reading.ts';
import { checkSource, RefusedItem } from '../domain/refusal.ts';
import type { Range } from '../domain/window.ts';
import { checkBatch, type IngestionPorts, type PutResult, parseAll, parseBatch } from './ingestion.ts';
import { toReadingId } from './row-ids.ts';

const MAX_READINGS = 5_000;
const MAX_WINDOWS = 100;

/** Every reading of a type and source whose start is in a window, not yet validated. */
export interface ReadingWindowDraft {
  readonly type: string;
  /** Empty for every source. */
  readonly source: string;
  readonly range: Range;
}

/**
 * Stores a batch of readings; the newest value of a natural key is kept, within the batch the last. An item replaced by a later one
 * of the batch counts as unchanged. Throws INVALID_REQUEST for the batch itself, and NOT_FOUND if it belongs to an import that does
 * not exist.
 */
export async function putReadings(
  ports: IngestionPorts,
  userId: string,
  drafts: readonly ReadingDraft[],
  during: ImportKey | null = null,
): Promise<PutResult> {
  checkBatch(userId, 'readings', drafts.length, MAX_READINGS);
  const now = ports.clock.now();
  const { rows, superseded, refusals } = parseBatch(drafts, (draft) => {
    const reading = parseReading(draft, now);
    return { ...reading, id: toReadingId(userId, reading) };
  });
  const counts = await ports.readingWriter.put(userId, rows, during);
  return { ...counts, unchanged: counts.unchanged + superseded, refusals };
}

/**
 * Deletes readings by natural key and by window, in several transactions. Returns the number deleted. After an error some may be
 * left; a repeat deletes them. Throws INVALID_REQUEST before anything is deleted.
 */
export async function deleteReadings(
  ports: IngestionPorts,
  userId: string,
  keys: readonly ReadingKeyDraft[],
  windows: readonly ReadingWindowDraft[],
): Promise<number> {
  parseUserId(userId);
  checkLength('keys', keys, MAX_READINGS);
  checkLength('windows', windows, MAX_WINDOWS);
  const rows = parseAll('keys', keys, (draft) => {
    const key = parseReadingKey(draft);
    return { ...key, id: toReadingId(userId, key) };
  });
  return ports.readingWriter.delete(userId, rows, parseAll('windows', windows, parseWindowDraft));
}

function checkLength(parameter: string, items: readonly unknown[], max: number): void {
  if (items.length <= max) return;
  throw invalidRequest(parameter, `must hold at most ${max.toLocaleString('en')} items`);
}

function parseWindowDraft({ type, source, range }: ReadingWindowDraft) {
  if (source !== '') checkSource(source);
  for (const bound of [range.from, range.to]) {
    // An invalid bound must not be treated as absent.
    if (bound !== null && Number.isNaN(bound.getTime())) throw new RefusedItem('window is no time');
  }
  return { metric: parseMetric(type).key, source: source === '' ? null : source, range };
}
