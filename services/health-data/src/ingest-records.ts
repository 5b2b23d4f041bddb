import {
  type DeleteHealthRecordsRequest,
  HealthRecordKind as HealthRecordKindMessage,
} from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { Clock } from '@phds/service-kit/clock';
import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import { toColumnName } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import {
  checkSource,
  type PutResult,
  parseAll,
  RefusedItem,
  storeBatch,
  type WriteCounts,
} from './batches.ts';
import { type ImportName, writeForUser } from './database.ts';
import {
  type HealthRecordDraft,
  type HealthRecordKind,
  type HealthRecordTypes,
  isKind,
  parseFields,
} from './record-kinds.ts';
import { columnsOf, tableOf, toField } from './records.ts';
import { toHealthRecordId } from './row-ids.ts';

/** A validated record. */
interface NewHealthRecord {
  readonly kind: HealthRecordKind;
  readonly id: string;
  readonly source: string;
  readonly fields: HealthRecordTypes[HealthRecordKind];
}

const MAX_RECORDS = 1_000;
const KEY_MAX_LENGTH = 200;

/** What an importer sends at once. */
interface HealthRecordBatch {
  readonly userId: string;
  readonly records: readonly HealthRecordDraft[];
  readonly import?: ImportName | undefined;
}

export interface RecordIngestion {
  readonly healthRecordWriter: RecordWriter;
  readonly clock: Clock;
}

/** Stores a batch of records, with the same rules as readings. Throws INVALID_REQUEST for the batch itself. */
export async function putHealthRecords(
  parts: RecordIngestion,
  { userId, records: drafts, import: during }: HealthRecordBatch,
): Promise<PutResult> {
  const now = parts.clock.now();
  const parse = (draft: HealthRecordDraft) => parseHealthRecord(userId, draft, now);
  const batch = { userId, parameter: 'records', drafts, max: MAX_RECORDS };
  return storeBatch(batch, parse, (rows) => parts.healthRecordWriter.put(userId, rows, during));
}

/** Deletes records by natural key. Returns the number deleted. Throws INVALID_REQUEST. */
export async function deleteHealthRecords(
  parts: RecordIngestion,
  { userId, keys }: DeleteHealthRecordsRequest,
): Promise<number> {
  parseUserId(userId);
  if (keys.length > MAX_RECORDS) throw invalidRequest('keys', `must hold at most ${MAX_RECORDS} items`);
  const rows = parseAll('keys', keys, ({ kind: sent, source, key }) => {
    const kind = findKind(sent);
    if (kind === null) throw new RefusedItem('unknown kind');
    checkKey(source, key);
    return { kind, id: toHealthRecordId(userId, kind, source, key) };
  });
  return parts.healthRecordWriter.delete(userId, rows);
}

function parseHealthRecord(userId: string, draft: HealthRecordDraft, now: Date): NewHealthRecord {
  const { source, key, record } = draft;
  const { case: kind } = record;
  if (kind === undefined) throw new RefusedItem('record is missing');
  checkKey(source, key);
  const medicationIdOf = (other: string) => toHealthRecordId(userId, 'medication', source, other);
  const fields = parseFields(kind, record.value, { now, medicationIdOf });
  return { kind, id: toHealthRecordId(userId, kind, source, key), source, fields };
}

/** The kind that the enum names, as the field of the record's message; null for none. */
function findKind(kind: HealthRecordKindMessage): HealthRecordKind | null {
  const name = toField((HealthRecordKindMessage[kind] ?? '').toLowerCase());
  return isKind(name) ? name : null;
}

function checkKey(source: string, key: string): void {
  checkSource(source);
  if (key === '') throw new RefusedItem('key is missing');
  if (key.length > KEY_MAX_LENGTH) throw new RefusedItem(`key is longer than ${KEY_MAX_LENGTH} characters`);
}

type RecordWriter = ReturnType<typeof createRecordWriter>;

/** Writes records of all kinds in the same way; only table and columns differ. */
export function createRecordWriter(pool: pg.Pool) {
  return {
    /** Kind and id together are unique. An existing row gets the new content. */
    async put(
      userId: string,
      records: readonly NewHealthRecord[],
      during?: ImportName,
    ): Promise<WriteCounts> {
      if (records.length === 0) return { inserted: 0, updated: 0, unchanged: 0 };
      const write = async (client: pg.PoolClient) => {
        let inserted = 0;
        let updated = 0;
        for (const [kind, rows] of Map.groupBy(records, (record) => record.kind)) {
          const written = await putKind(client, userId, kind, rows);
          inserted += written.inserted;
          updated += written.updated;
        }
        return { inserted, updated, unchanged: records.length - inserted - updated };
      };
      return writeForUser(pool, userId, write, during);
    },
    /** Deletes by id. A medication is deleted with its adherence entries, which are not counted. */
    delete: (
      userId: string,
      keys: readonly { readonly kind: HealthRecordKind; readonly id: string }[],
    ): Promise<number> =>
      writeForUser(pool, userId, async (client) => {
        let deleted = 0;
        for (const [kind, rows] of Map.groupBy(keys, (key) => key.kind)) {
          const ids = rows.map(({ id }) => id);
          deleted += await deleteKind(client, userId, kind, ids);
        }
        return deleted;
      }),
  };
}

async function putKind(
  client: pg.PoolClient,
  userId: string,
  kind: HealthRecordKind,
  records: readonly NewHealthRecord[],
): Promise<{ inserted: number; updated: number }> {
  const rows = records.map(toRow);
  const text = toUpsert(tableOf(kind), columnsOf(kind));
  const values = [JSON.stringify(rows), userId];
  const { rows: counts } = await client.query<{ inserted: number; updated: number }>(text, values);
  return counts[0] ?? { inserted: 0, updated: 0 };
}

function toRow({ id, source, fields }: NewHealthRecord): object {
  const content = Object.entries(fields).map(([name, value]) => [toColumnName(name), value]);
  return { id, source, ...Object.fromEntries(content) };
}

/** xmax is 0 in rows that the statement inserted. */
function toUpsert(table: string, columns: readonly string[]): string {
  const list = columns.join(', ');
  const own = columns.map((column) => `${table}.${column}`).join(', ');
  const excluded = columns.map((column) => `excluded.${column}`).join(', ');
  return `
    WITH
    written AS (
      INSERT INTO ${table} (user_id, id, source, ${list})
      SELECT $2, id, source, ${list}
      FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb)
      ON CONFLICT (user_id, id) DO UPDATE
        SET (${list}) = ROW (${excluded})
        WHERE (${own})
          IS DISTINCT FROM (${excluded})
      RETURNING xmax = 0 AS inserted
    )
    SELECT count(*) FILTER (WHERE inserted)::int AS inserted, count(*) FILTER (WHERE NOT inserted)::int AS updated
    FROM written`;
}

async function deleteKind(
  client: pg.PoolClient,
  userId: string,
  kind: HealthRecordKind,
  ids: readonly string[],
): Promise<number> {
  const remove = (table: string, column: string) =>
    client.query(`DELETE FROM ${table} WHERE user_id = $1 AND ${column} = ANY($2::uuid[])`, [userId, ids]);
  if (kind === 'medication') await remove('adherence_entry', 'medication_id');
  const { rowCount } = await remove(tableOf(kind), 'id');
  return rowCount ?? 0;
}
