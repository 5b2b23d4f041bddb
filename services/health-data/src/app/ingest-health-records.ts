import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/user-id';
import { type HealthRecordDraft, type HealthRecordKind, parseFields } from '../domain/health-records.ts';
import type { ImportKey } from '../domain/import-progress.ts';
import { checkSource, RefusedItem } from '../domain/refusal.ts';
import { checkBatch, type IngestionPorts, type PutResult, parseAll, parseBatch } from './ingestion.ts';
import type { NewHealthRecord } from './ports.ts';
import { toHealthRecordId } from './row-ids.ts';

const MAX_RECORDS = 1_000;
const KEY_MAX_LENGTH = 200;

/** The natural key of a record, not yet validated. */
export interface HealthRecordKeyDraft {
  /** Null for an unknown kind. */
  readonly kind: HealthRecordKind | null;
  readonly source: string;
  readonly key: string;
}

/** Stores a batch of records, with the same rules as readings. Throws INVALID_REQUEST for the batch itself. */
export async function putHealthRecords(
  ports: IngestionPorts,
  userId: string,
  drafts: readonly HealthRecordDraft[],
  during: ImportKey | null = null,
): Promise<PutResult> {
  checkBatch(userId, 'records', drafts.length, MAX_RECORDS);
  const now = ports.clock.now();
  const { rows, superseded, refusals } = parseBatch(drafts, (draft) => parseHealthRecord(userId, draft, now));
  const counts = await ports.healthRecordWriter.put(userId, rows, during);
  return { ...counts, unchanged: counts.unchanged + superseded, refusals };
}

/** Deletes records by natural key. Returns the number deleted. Throws INVALID_REQUEST. */
export async function deleteHealthRecords(
  ports: IngestionPorts,
  userId: string,
  keys: readonly HealthRecordKeyDraft[],
): Promise<number> {
  parseUserId(userId);
  if (keys.length > MAX_RECORDS) throw invalidRequest('keys', `must hold at most ${MAX_RECORDS} items`);
  const rows = parseAll('keys', keys, ({ kind, source, key }) => {
    if (kind === null) throw new RefusedItem('unknown kind');
    checkKey(source, key);
    return { kind, id: toHealthRecordId(userId, kind, source, key) };
  });
  return ports.healthRecordWriter.delete(userId, rows);
}

function parseHealthRecord(userId: string, draft: HealthRecordDraft, now: Date): NewHealthRecord {
  const { source, key, kind } = draft;
  if (kind === null) throw new RefusedItem('record is missing');
  checkKey(source, key);
  const medicationIdOf = (other: string) => toHealthRecordId(userId, 'medication', source, other);
  const fields = parseFields(kind, draft.fields, { now, medicationIdOf });
  return { kind, id: toHealthRecordId(userId, kind, source, key), source, fields };
}

function checkKey(source: string, key: string): void {
  checkSource(source);
  if (key === '') throw new RefusedItem('key is missing');
  if (key.length > KEY_MAX_LENGTH) throw new RefusedItem(`key is longer than ${KEY_MAX_LENGTH} characters`);
}
