import { translatingErrors } from '@phds/service-kit/postgres/errors';
import type pg from 'pg';
import type { HealthRecordWriter, NewHealthRecord } from '../app/ports.ts';
import type { HealthRecordKind, HealthRecordTypes } from '../domain/health-records.ts';
import { writeForUser } from './database.ts';

interface Table<Kind extends HealthRecordKind> {
  readonly name: string;
  /** The column of every field; the compiler reports a missing one. */
  readonly columns: { readonly [Field in keyof HealthRecordTypes[Kind]]: string };
}

const STANDING_FACT = { name: 'name', severity: 'severity', sinceDate: 'since_date', sinceOn: 'since_on' };

const TABLES: { readonly [Kind in HealthRecordKind]: Table<Kind> } = {
  symptom: {
    name: 'symptom',
    columns: { description: 'description', severity: 'severity', occurredAt: 'occurred_at' },
  },
  medication: {
    name: 'medication',
    columns: {
      name: 'name',
      sortName: 'sort_name',
      dosage: 'dosage',
      frequency: 'frequency',
      condition: 'condition',
      pattern: 'pattern',
    },
  },
  'adherence-entry': {
    name: 'adherence_entry',
    columns: {
      medicationId: 'medication_id',
      at: 'at',
      scheduledAt: 'scheduled_at',
      status: 'status',
      takenAt: 'taken_at',
      dose: 'dose',
      reason: 'reason',
    },
  },
  condition: { name: 'condition', columns: STANDING_FACT },
  allergy: { name: 'allergy', columns: STANDING_FACT },
  appointment: {
    name: 'appointment',
    columns: {
      title: 'title',
      startsAt: 'starts_at',
      offsetMinutes: 'offset_minutes',
      specialty: 'specialty',
      location: 'location',
    },
  },
  'mood-entry': { name: 'mood_entry', columns: { mood: 'mood', note: 'note', occurredAt: 'occurred_at' } },
  report: {
    name: 'report',
    columns: {
      generatedAt: 'generated_at',
      rangeFrom: 'range_from',
      rangeTo: 'range_to',
      summary: 'summary',
    },
  },
  'ehr-record': {
    name: 'ehr_record',
    columns: { resourceType: 'resource_type', summary: 'summary', occurredAt: 'occurred_at' },
  },
};

/** Writes records of all kinds in the same way; only table and columns differ. */
export function createPgHealthRecordWriter(pool: pg.Pool): HealthRecordWriter {
  return translatingErrors({
    async put(userId, records, during = null) {
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
      return writeForUser(pool, userId, write, { during });
    },
    delete: (userId, keys) =>
      writeForUser(pool, userId, async (client) => {
        let deleted = 0;
        for (const [kind, rows] of Map.groupBy(keys, (key) => key.kind)) {
          deleted += await deleteKind(
            client,
            userId,
            kind,
            rows.map((row) => row.id),
          );
        }
        return deleted;
      }),
  });
}

async function putKind(
  client: pg.PoolClient,
  userId: string,
  kind: HealthRecordKind,
  records: readonly NewHealthRecord[],
): Promise<{ inserted: number; updated: number }> {
  const { name, columns } = TABLES[kind];
  const rows = records.map((record) => toRow(record, columns));
  const text = toUpsert(name, Object.values(columns));
  const values = [JSON.stringify(rows), userId];
  const { rows: counts } = await client.query<{ inserted: number; updated: number }>(text, values);
  return counts[0] ?? { inserted: 0, updated: 0 };
}

function toRow(record: NewHealthRecord, columns: object): Record<string, unknown> {
  const content: Readonly<Record<string, unknown>> = { ...record.fields };
  const row: Record<string, unknown> = { id: record.id, source: record.source };
  for (const [field, column] of Object.entries(columns)) row[column] = content[field];
  return row;
}

/** Exported for the test of its text. xmax is 0 in rows that the statement inserted. */
export function toUpsert(table: string, columns: readonly string[]): string {
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
  const values = [userId, ids];
  if (kind === 'medication') {
    await client.query(
      'DELETE FROM adherence_entry WHERE user_id = $1 AND medication_id = ANY($2::uuid[])',
      values,
    );
  }
  const { name } = TABLES[kind];
  const result = await client.query(
    `DELETE FROM ${name} WHERE user_id = $1 AND id = ANY($2::uuid[])`,
    values,
  );
  return result.rowCount ?? 0;
}
