import { withinCalendar } from '@phds/catalog/instants';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import pg from 'pg';
import type {
  DatedRecordQuery,
  Found,
  HealthRecordQuery,
  HealthRecordReader,
  HealthRecordWriter,
  NamedDose,
  NewHealthRecord,
  Page,
  Slice,
} from '../app/ports.ts';
import { fieldsOf, type HealthRecordKind, type Stored } from '../domain/health-records.ts';
import { lowerBound, upperBound, writeForUser } from './database.ts';

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
          const ids = rows.map(({ id }) => id);
          deleted += await deleteKind(client, userId, kind, ids);
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
  const rows = records.map(toRow);
  const text = toUpsert(tableOf(kind), columnsOf(kind));
  const values = [JSON.stringify(rows), userId];
  const { rows: counts } = await client.query<{ inserted: number; updated: number }>(text, values);
  return counts[0] ?? { inserted: 0, updated: 0 };
}

function toRow({ id, source, fields }: NewHealthRecord): object {
  const content = Object.entries(fields).map(([name, value]) => [toColumn(name), value]);
  return { id, source, ...Object.fromEntries(content) };
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
  const remove = (table: string, column: string) =>
    client.query(`DELETE FROM ${table} WHERE user_id = $1 AND ${column} = ANY($2::uuid[])`, [userId, ids]);
  if (kind === 'medication') await remove('adherence_entry', 'medication_id');
  const { rowCount } = await remove(tableOf(kind), 'id');
  return rowCount ?? 0;
}

/** Reads records. Stored values were validated by the domain, so their codes are the domain's. */
export function createPgHealthRecords(pool: pg.Pool): HealthRecordReader {
  return translatingErrors({
    list: <Kind extends HealthRecordKind>(kind: Kind, query: HealthRecordQuery) =>
      list<Stored<Kind>>(pool, kind, tableOf(kind), query),
    listNewest: <Kind extends HealthRecordKind>(kind: Kind, query: DatedRecordQuery & { limit: number }) =>
      listNewest<Found<Kind>>(pool, kind, query),
    count: (kind, query) => count(pool, kind, query),
    listDoses: ({ userId, since, limit }) => {
      const query = { userId, range: { from: since, to: null }, limit, offset: 0 };
      return list<NamedDose>(pool, 'adherence-entry', NAMED_DOSES, query, ['medication']);
    },
    async hasMedication(userId, id) {
      const text = 'SELECT FROM medication WHERE user_id = $1 AND id = $2';
      const { rowCount } = await pool.query({ name: 'has-medication', text, values: [userId, id] });
      return rowCount !== 0;
    },
  });
}

/** An app reads doses by medication, so those of a medication that the user does not have are left out. */
const NAMED_DOSES = `(
  SELECT dose.*, medication.name AS medication
  FROM adherence_entry AS dose JOIN medication ON medication.user_id = dose.user_id AND medication.id = dose.medication_id
) AS dose`;

const SINCE = { window: 'since_on', order: 'since_on DESC NULLS LAST, since_date' };
const OCCURRED = { window: 'occurred_at', order: 'occurred_at DESC' };

/** When a dose was taken, or was to be. */
const TAKEN_OR_DUE = "CASE status WHEN 'taken' THEN coalesce(taken_at, at) ELSE at END";

/** What a window limits, and what orders the records before their other fields do. */
const LISTS: Readonly<Record<HealthRecordKind, { readonly window: string | null; readonly order: string }>> =
  {
    symptom: OCCURRED,
    medication: { window: null, order: 'sort_name' },
    'adherence-entry': { window: 'at', order: 'at DESC, scheduled_at DESC, taken_at DESC' },
    condition: SINCE,
    allergy: SINCE,
    appointment: { window: 'starts_at', order: 'starts_at DESC' },
    'mood-entry': OCCURRED,
    report: { window: 'generated_at', order: 'generated_at DESC, range_from DESC, range_to DESC' },
    'ehr-record': OCCURRED,
  };

/** One statement returns the page and the total from one snapshot. */
async function list<Item>(
  pool: pg.Pool,
  kind: HealthRecordKind,
  table: string,
  query: HealthRecordQuery,
  more: readonly string[] = [],
): Promise<Page<Item>> {
  const values: unknown[] = [query.limit, query.offset];
  const where = toConditions(kind, query, values).join(' AND ');
  const order = toOrder(kind);
  const columns = ['id', ...columnsOf(kind), ...more].join(', ');
  const text = `
    SELECT total, page.*
    FROM (SELECT count(*)::int AS total FROM ${table} WHERE ${where}) AS counted
    LEFT JOIN (
      SELECT ${columns} FROM ${table} WHERE ${where} ORDER BY ${order} LIMIT $1 OFFSET $2
    ) AS page ON true
    ORDER BY ${order}`;
  const { rows } = await pool.query<{ total: number; id: string | null }>({
    text,
    values,
    types: DATES_AS_TEXT,
  });
  const items = rows.filter(({ id }) => id !== null).map((row) => toItem<Item>(row));
  return { items, total: rows[0]?.total ?? 0 };
}

/** The times of a record that the FHIR interface shows, both inclusive; kinds with partial dates or none are not in it. */
const SPANS: { readonly [Kind in HealthRecordKind]?: readonly [start: string, end: string] } = {
  symptom: ['occurred_at', 'occurred_at'],
  'adherence-entry': [TAKEN_OR_DUE, TAKEN_OR_DUE],
  appointment: ['starts_at', 'starts_at'],
  'mood-entry': ['occurred_at', 'occurred_at'],
  report: ['range_from::timestamptz', "(range_to + 1)::timestamptz - interval '1 ms'"],
  'ehr-record': ['occurred_at', 'occurred_at'],
};

async function listNewest<Item>(
  pool: pg.Pool,
  kind: HealthRecordKind,
  query: DatedRecordQuery & { readonly limit: number },
): Promise<Item[]> {
  const values: unknown[] = [];
  const where = toDatedConditions(kind, query, values);
  const span = SPANS[kind];
  const newest =
    span && ` ORDER BY ${span[0]} DESC FETCH FIRST ($${values.push(query.limit)}) ROWS WITH TIES`;
  const columns = ['id', ...columnsOf(kind), ...(kind === 'adherence-entry' ? ['medication'] : [])];
  const text = `SELECT ${columns.join(', ')} FROM ${foundIn(kind)} WHERE ${where}${newest ?? ''}`;
  const { rows } = await pool.query({ text, values, types: DATES_AS_TEXT });
  return rows.map((row) => toItem<Item>({ ...row, total: 0 }));
}

async function count(pool: pg.Pool, kind: HealthRecordKind, query: DatedRecordQuery): Promise<number> {
  const values: unknown[] = [];
  const where = toDatedConditions(kind, query, values);
  const text = `SELECT count(*)::int AS total FROM ${foundIn(kind)} WHERE ${where}`;
  const { rows } = await pool.query<{ total: number }>({ text, values });
  return rows[0]?.total ?? 0;
}

function foundIn(kind: HealthRecordKind): string {
  return kind === 'adherence-entry' ? NAMED_DOSES : tableOf(kind);
}

function toDatedConditions(kind: HealthRecordKind, query: DatedRecordQuery, values: unknown[]): string {
  const { userId, ids, since, coverFrom, statuses, when } = query;
  const conditions = toConditions(kind, { userId, range: { from: since, to: null }, coverFrom }, values);
  const add = (condition: string, value: unknown) => conditions.push(`${condition} $${values.push(value)}`);
  const addAny = (column: string, type: string, value: unknown) =>
    conditions.push(`${column} = ANY ($${values.push(value)}::${type}[])`);
  if (ids !== null) addAny('id', 'uuid', ids);
  if (statuses !== null) addAny('status', 'text', statuses);
  const [start, end] = SPANS[kind] ?? [];
  const addBound = (column: string | undefined, comparison: string, at: number | null) => {
    if (column !== undefined && at !== null)
      add(`${column} ${comparison}`, withinCalendar(new Date(at)).toISOString());
  };
  addBound(start, '>=', when.startFrom);
  addBound(start, '<', when.startBefore);
  addBound(end, '>=', when.endFrom);
  addBound(end, '<', when.endBefore);
  return conditions.join(' AND ');
}

/** Adds the values of the conditions to those of the statement. */
function toConditions(
  kind: HealthRecordKind,
  query: Omit<HealthRecordQuery, keyof Slice>,
  values: unknown[],
): string[] {
  const { userId, range, medicationId, coverFrom = null } = query;
  const { window } = LISTS[kind];
  const conditions: string[] = [];
  const add = (condition: string, value: unknown) => conditions.push(`${condition} $${values.push(value)}`);
  add('user_id =', userId);
  // Without a window, facts with an unknown start are included; a condition would exclude them.
  if (window !== null && (range.from !== null || range.to !== null)) {
    add(`${window} >=`, lowerBound(range.from));
    add(`${window} <`, upperBound(range.to));
  }
  if (kind === 'report' && coverFrom !== null) add('range_from >=', lowerBound(coverFrom));
  if (kind === 'adherence-entry' && medicationId !== undefined) add('medication_id =', medicationId);
  return conditions;
}

/**
 * Records of the same time or day are ordered by what an app sees of them. Row ids must not order what leaves (README); they only
 * separate records that look alike, of which an app cannot tell which is which.
 */
function toOrder(kind: HealthRecordKind): string {
  const seen = columnsOf(kind).filter((column) => column !== 'medication_id');
  return [LISTS[kind].order, ...seen, 'id'].join(', ');
}

/** A date would otherwise become a `Date` at midnight of the process's zone. */
const DATES_AS_TEXT: pg.CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === pg.types.builtins.DATE ? (text: string) => text : pg.types.getTypeParser(type, format),
};

function toItem<Item>({ total: _, ...row }: object & { readonly total: number }): Item {
  const fields = Object.entries(row).map(([column, value]) => [toField(column), value]);
  return Object.fromEntries(fields);
}

function tableOf(kind: HealthRecordKind): string {
  return kind.replaceAll('-', '_');
}

function columnsOf(kind: HealthRecordKind): string[] {
  return fieldsOf(kind).map(([name]) => toColumn(name));
}

/** `occurredAt` is stored in `occurred_at`. */
function toColumn(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function toField(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
