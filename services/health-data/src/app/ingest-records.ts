import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/user-id';
import type { ImportKey } from '../domain/import-progress.ts';
import type { DraftTypes, RecordDraft } from '../domain/record-drafts.ts';
import { type IntakeContext, RECORD_PARSERS } from '../domain/record-intake.ts';
import type { RecordKind } from '../domain/records.ts';
import { checkSource, RefusedItem } from '../domain/refusal.ts';
import { checkBatch, type IngestionPorts, type PutResult, parseAll, parseBatch } from './ingestion.ts';
import type { NewRecord } from './ports.ts';
import { toRecordId } from './row-ids.ts';

const MAX_RECORDS = 1_000;
const KEY_MAX_LENGTH = 200;

/** The natural key of a record, not yet validated. */
export interface RecordKeyDraft {
  /** Null for an unknown kind. */
  readonly kind: RecordKind | null;
  readonly source: string;
  readonly key: string;
}

/** Stores a batch of records, with the same rules as readings. Throws INVALID_REQUEST for the batch itself. */
export async function putRecords(
  ports: IngestionPorts,
  userId: string,
  drafts: readonly RecordDraft[],
  during: ImportKey | null = null,
): Promise<PutResult> {
  checkBatch(userId, 'records', drafts.length, MAX_RECORDS);
  const now = ports.clock.now();
  const { rows, superseded, refusals } = parseBatch(drafts, (draft) => parseRecord(userId, draft, now));
  const counts = await ports.recordWriter.put(userId, rows, during);
  return { ...counts, unchanged: counts.unchanged + superseded, refusals };
}

/** Deletes records by natural key. Returns the number deleted. Throws INVALID_REQUEST. */
export async function deleteRecords(
  ports: IngestionPorts,
  userId: string,
  keys: readonly RecordKeyDraft[],
): Promise<number> {
  parseUserId(userId);
  if (keys.length > MAX_RECORDS) throw invalidRequest('keys', `must hold at most ${MAX_RECORDS} items`);
  const rows = parseAll('keys', keys, ({ kind, source, key }) => {
    if (kind === null) throw new RefusedItem('unknown kind');
    checkKey(source, key);
    return { kind, id: toRecordId(userId, kind, source, key) };
  });
  return ports.recordWriter.delete(userId, rows);
}

function parseRecord(userId: string, draft: RecordDraft, now: Date): NewRecord {
  const { source, key } = draft;
  if (draft.kind === null) throw new RefusedItem('record is missing');
  checkKey(source, key);
  const rowIdOf: IntakeContext['rowIdOf'] = (kind, other) => toRecordId(userId, kind, source, other);
  return toNewRecord(draft.kind, draft.fields, { id: rowIdOf(draft.kind, key), source }, { now, rowIdOf });
}

/** Uses the parser of the record's kind. */
function toNewRecord<Kind extends RecordKind>(
  kind: Kind,
  fields: DraftTypes[Kind],
  row: { readonly id: string; readonly source: string },
  context: IntakeContext,
): NewRecord<Kind> {
  return { kind, ...row, fields: RECORD_PARSERS[kind](fields, context) };
}

function checkKey(source: string, key: string): void {
  checkSource(source);
  if (key === '') throw new RefusedItem('key is missing');
  if (key.length > KEY_MAX_LENGTH) throw new RefusedItem(`key is longer than ${KEY_MAX_LENGTH} characters`);
}
