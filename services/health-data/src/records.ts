import type { EndpointId } from '@phds/catalog/endpoints';
import type { TimeBounds } from '@phds/catalog/fhir/dates';
import { withinCalendar } from '@phds/catalog/instants';
import { type AppError, notFound } from '@phds/service-kit/errors';
import { readStatement, runStatement, toColumnName } from '@phds/service-kit/postgres/sql';
import pg from 'pg';
import { lowerBound, upperBound } from './database.ts';
import { formatWithOffset, midnightUtc } from './dates.ts';
import { type Answer, type Page, type Slice, toListAnswer } from './document.ts';
import { findSince, type Profiles, toSlice } from './profiles.ts';
import type { IdPrefix } from './public-ids.ts';
import { fieldsOf, type HealthRecordKind, type Stored } from './record-kinds.ts';
import type { DataRequest } from './request.ts';
import { EVERYTHING, notBefore, type Range, toDates, toInstants } from './window.ts';

interface HealthRecordQuery extends Slice {
  readonly userId: string;
  /** Filters by the time or first day that orders the kind; ignored by medications, which have none. */
  readonly range: Range;
  /** For reports: the earliest first day of the covered period, as midnight UTC. */
  readonly coverFrom?: Date | null;
  /** For adherence entries: those of this medication. */
  readonly medicationId?: string;
}

/** A dose with the name of its medication. */
export type NamedDose = Stored<'adherenceEntry'> & { readonly medication: string };

/** A record as it is found among all of its kind. */
export type Found<Kind extends HealthRecordKind> = Kind extends 'adherenceEntry' ? NamedDose : Stored<Kind>;

interface DoseQuery {
  readonly userId: string;
  /** Earlier doses do not count; null for no limit. */
  readonly since: Date | null;
  readonly limit: number;
}

/** Records by the times that the FHIR interface shows. */
interface DatedRecordQuery {
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

interface HealthRecordParts {
  readonly healthRecords: HealthRecords;
  readonly profiles: Profiles;
}

/** A list of records: its kind, how a window applies, and how an item is presented. */
interface HealthRecordList<Kind extends HealthRecordKind> {
  readonly kind: Kind;
  readonly prefix: IdPrefix;
  /**
   * How windows apply. `instant` and `report` respect the first day of a grant. `date` and `none` are facts that still hold: an
   * allergy known since childhood is current, so a grant that starts later includes it.
   */
  readonly judgedBy: 'instant' | 'report' | 'date' | 'none';
  /** The visible fields of an item besides its id; default: each under its name. */
  readonly present?: (record: Stored<Kind>) => object;
}

type ReadList = (parts: HealthRecordParts, request: DataRequest) => Promise<Answer>;

/** The endpoints that return lists of one kind of record. */
type HealthRecordEndpoint = Extract<
  EndpointId,
  'symptoms' | 'medications' | 'conditions' | 'allergies' | 'appointments' | 'mood' | 'reports' | 'ehr'
>;

const LISTS: Readonly<Record<HealthRecordEndpoint, ReadList>> = {
  symptoms: listOf({ kind: 'symptom', prefix: 'sym', judgedBy: 'instant' }),
  medications: listOf({ kind: 'medication', prefix: 'med', judgedBy: 'none' }),
  conditions: listOf({ kind: 'condition', prefix: 'cnd', judgedBy: 'date' }),
  allergies: listOf({ kind: 'allergy', prefix: 'alg', judgedBy: 'date' }),
  appointments: listOf({
    kind: 'appointment',
    prefix: 'apt',
    judgedBy: 'instant',
    present: ({ title, startsAt, offsetMinutes, specialty, location }) => ({
      title,
      dateTime: formatWithOffset(startsAt, offsetMinutes),
      specialty,
      location,
    }),
  }),
  mood: listOf({ kind: 'moodEntry', prefix: 'mood', judgedBy: 'instant' }),
  reports: listOf({
    kind: 'report',
    prefix: 'rpt',
    judgedBy: 'report',
    present: ({ generatedAt, rangeFrom, rangeTo, summary }) => ({
      generatedAt,
      dateRange: { from: rangeFrom, to: rangeTo },
      summary,
    }),
  }),
  ehr: listOf({ kind: 'ehrRecord', prefix: 'ehr', judgedBy: 'instant' }),
};

/** The list of one resource, in its public order. */
export function readHealthRecords(
  parts: HealthRecordParts,
  endpoint: HealthRecordEndpoint,
  request: DataRequest,
): Promise<Answer> {
  return LISTS[endpoint](parts, request);
}

/** The doses of one medication, newest first. NOT_FOUND if the user has no such medication. */
export async function readAdherence(
  parts: HealthRecordParts,
  request: DataRequest,
): Promise<Answer | AppError> {
  const medicationId = request.ids.findRowId('med', request.medicationId);
  if (medicationId === null || !(await parts.healthRecords.hasMedication(request.userId, medicationId))) {
    return notFound();
  }
  const doses = { kind: 'adherenceEntry', prefix: 'adh', judgedBy: 'instant', medicationId } as const;
  return listOf(doses)(parts, request);
}

/** The newest doses of all medications as their adherence shows them, with the names of the medications. */
export async function readNewestDoses(
  { healthRecords }: Pick<HealthRecordParts, 'healthRecords'>,
  query: DoseQuery,
): Promise<{ total: number; newest: object[] }> {
  const { items, total } = await healthRecords.listDoses(query);
  const newest = items.map((dose) => ({
    medication: dose.medication,
    ...presentFields('adherenceEntry', dose),
  }));
  return { total, newest };
}

function listOf<Kind extends HealthRecordKind>(
  list: HealthRecordList<Kind> & { readonly medicationId?: string },
): ReadList {
  const { kind, prefix, judgedBy, medicationId } = list;
  const { present = (record) => presentFields(kind, record) } = list;
  return async (parts, request) => {
    const page = await parts.healthRecords.list(kind, {
      ...(await toHealthRecordQuery(judgedBy, parts.profiles, request)),
      ...(medicationId === undefined ? {} : { medicationId }),
    });
    const publicIds = request.ids.toPublicIds(prefix, page.items);
    const items = page.items.map((record, index) => ({ id: publicIds[index], ...present(record) }));
    return toListAnswer(items, { ...request.parameters, total: page.total });
  };
}

async function toHealthRecordQuery(
  judgedBy: HealthRecordList<HealthRecordKind>['judgedBy'],
  profiles: Profiles,
  request: DataRequest,
): Promise<HealthRecordQuery> {
  const { userId, parameters, dataFrom } = request;
  const { window } = parameters;
  const rows = { userId, ...toSlice(parameters) };
  if (judgedBy === 'none') return { ...rows, range: EVERYTHING_RANGE };
  if (judgedBy === 'date') return { ...rows, range: toDates(window) };
  const range = notBefore(toInstants(window), await findSince(profiles, request));
  // A report generated today may cover earlier years, so the covered period must start inside the window too.
  const coverFrom = judgedBy === 'report' && dataFrom !== null ? midnightUtc(dataFrom) : null;
  return { ...rows, range, coverFrom };
}

const EVERYTHING_RANGE = toInstants(EVERYTHING);

function presentFields(kind: HealthRecordKind, record: object): object {
  const values = new Map<string, unknown>(Object.entries(record));
  const shown = fieldsOf(kind).flatMap(([field, { name }]) =>
    name === null ? [] : [[name, values.get(field)]],
  );
  return Object.fromEntries(shown);
}

const FIND_MEDICATION = readStatement(new URL('sql/find-medication.sql', import.meta.url));

export type HealthRecords = ReturnType<typeof createHealthRecords>;

/** Reads records. Stored values were validated, so their codes are those of the catalog. */
export function createHealthRecords(pool: pg.Pool) {
  return {
    /**
     * Newest first, unknown `sinceOn` last; medications by name. Ties are ordered by the visible content, and by row id only if that
     * is equal, because row ids depend on the user id.
     */
    list: <Kind extends HealthRecordKind>(kind: Kind, query: HealthRecordQuery) =>
      list<Stored<Kind>>(pool, kind, tableOf(kind), query),
    /**
     * The newest by start, in no order: at least `limit` if there are, and all of the last time. Kinds without a full date ignore `when`
     * and the limit. Doses are those of medications that the user has.
     */
    listNewest: <Kind extends HealthRecordKind>(kind: Kind, query: DatedRecordQuery & { limit: number }) =>
      listNewest<Found<Kind>>(pool, kind, query),
    /** The number of records that `listNewest` finds without a limit. */
    count: (kind: HealthRecordKind, query: DatedRecordQuery) => count(pool, kind, query),
    /** The newest doses of all medications that the user has, for the user's own view. */
    listDoses: ({ userId, since, limit }: DoseQuery) => {
      const query = { userId, range: { from: since, to: null }, limit, offset: 0 };
      return list<NamedDose>(pool, 'adherenceEntry', NAMED_DOSES, query, ['medication']);
    },
    /**
     * All that is held, with its sources and without ids, newest first: at least `limit` from before a time on, and all of the last time.
     * Kinds without a full date ignore both. Unlike apps, the person gets doses of medications that they do not have, too.
     */
    listHeld: (kind: HealthRecordKind, query: HeldQuery) => listHeld(pool, kind, query),
    hasMedication: async (userId: string, id: string): Promise<boolean> =>
      (await runStatement(pool, FIND_MEDICATION, userId, id)) > 0,
  };
}

/** An app reads doses by medication, so those of a medication that the user does not have are left out. */
const NAMED_DOSES = `(
  SELECT dose.*, medication.name AS medication
  FROM adherence_entry AS dose JOIN medication ON medication.user_id = dose.user_id AND medication.id = dose.medication_id
) AS dose`;

/** When a dose was taken, or was to be. */
const TAKEN_OR_DUE = "CASE status WHEN 'taken' THEN coalesce(taken_at, at) ELSE at END";

interface Times {
  /** What a window limits. */
  readonly window: string | null;
  /** What orders the records before their other fields do. */
  readonly order: string;
  /** The times that the FHIR interface shows, both inclusive; absent for partial dates, or none. */
  readonly span?: readonly [start: string, end: string];
}

const SINCE: Times = { window: 'since_on', order: 'since_on DESC NULLS LAST, since_date' };

const TIMES: Readonly<Record<HealthRecordKind, Times>> = {
  symptom: instant('occurred_at'),
  medication: { window: null, order: 'sort_name' },
  adherenceEntry: {
    window: 'at',
    order: 'at DESC, scheduled_at DESC, taken_at DESC',
    span: [TAKEN_OR_DUE, TAKEN_OR_DUE],
  },
  condition: SINCE,
  allergy: SINCE,
  appointment: instant('starts_at'),
  moodEntry: instant('occurred_at'),
  report: {
    window: 'generated_at',
    order: 'generated_at DESC, range_from DESC, range_to DESC',
    span: ['range_from::timestamptz', "(range_to + 1)::timestamptz - interval '1 ms'"],
  },
  ehrRecord: instant('occurred_at'),
};

function instant(column: string): Times {
  return { window: column, order: `${column} DESC`, span: [column, column] };
}

interface HeldQuery {
  readonly userId: string;
  /** Unix milliseconds; null for the first page. */
  readonly before: number | null;
  readonly limit: number;
}

const DOSE_NAME = `(
  SELECT name FROM medication WHERE medication.user_id = $1 AND medication.id = held.medication_id
) AS medication`;

/** What is not shown: ids, and what is computed for the order. */
const INTERNAL: readonly string[] = ['medication_id', 'sort_name', 'since_on'];

async function listHeld(pool: pg.Pool, kind: HealthRecordKind, { userId, before, limit }: HeldQuery) {
  const { window, order } = TIMES[kind];
  const time = window === 'since_on' ? null : window;
  const shown = columnsOf(kind).filter((column) => !INTERNAL.includes(column));
  const columns = [...shown, 'source', ...(kind === 'adherenceEntry' ? [DOSE_NAME] : [])];
  const values: unknown[] = [userId];
  const paged = time && ` AND ${time} < $2 ORDER BY ${time} DESC FETCH FIRST ($3::bigint) ROWS WITH TIES`;
  if (time !== null) values.push(upperBound(before === null ? null : new Date(before)), limit);
  const text = `
    SELECT ${[...columns, ...(time === null ? [] : [`${time} AS held_at`])].join(', ')}
    FROM ${tableOf(kind)} AS held WHERE user_id = $1${paged ?? ''}`;
  const { rows } = await pool.query<Record<string, unknown>>({
    text: `SELECT * FROM (${text}) AS held ORDER BY ${toHeldOrder(kind, order, shown)}`,
    values,
    types: DATES_AS_TEXT,
  });
  const items = rows.map(({ held_at: _, ...row }) => toItem<object>(row));
  const last = rows.at(-1)?.['held_at'];
  return { items, next: last instanceof Date && rows.length >= limit ? last.getTime() : null };
}

function toHeldOrder(kind: HealthRecordKind, order: string, shown: readonly string[]): string {
  if (kind === 'medication') return 'name';
  const first = kind === 'condition' || kind === 'allergy' ? 'since_date DESC NULLS LAST' : order;
  return [first, ...shown].join(', ');
}

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
  const items = rows.flatMap(({ total: _, ...row }) => (row.id === null ? [] : [toItem<Item>(row)]));
  return { items, total: rows[0]?.total ?? 0 };
}

async function listNewest<Item>(
  pool: pg.Pool,
  kind: HealthRecordKind,
  query: DatedRecordQuery & { readonly limit: number },
): Promise<Item[]> {
  const values: unknown[] = [];
  const where = toDatedConditions(kind, query, values);
  const [start] = TIMES[kind].span ?? [];
  const newest = start && ` ORDER BY ${start} DESC FETCH FIRST ($${values.push(query.limit)}) ROWS WITH TIES`;
  const columns = ['id', ...columnsOf(kind), ...(kind === 'adherenceEntry' ? ['medication'] : [])];
  const text = `SELECT ${columns.join(', ')} FROM ${foundIn(kind)} WHERE ${where}${newest ?? ''}`;
  const { rows } = await pool.query({ text, values, types: DATES_AS_TEXT });
  return rows.map((row) => toItem<Item>(row));
}

async function count(pool: pg.Pool, kind: HealthRecordKind, query: DatedRecordQuery): Promise<number> {
  const values: unknown[] = [];
  const where = toDatedConditions(kind, query, values);
  const text = `SELECT count(*)::int AS total FROM ${foundIn(kind)} WHERE ${where}`;
  const { rows } = await pool.query<{ total: number }>({ text, values });
  return rows[0]?.total ?? 0;
}

function foundIn(kind: HealthRecordKind): string {
  return kind === 'adherenceEntry' ? NAMED_DOSES : tableOf(kind);
}

function toDatedConditions(kind: HealthRecordKind, query: DatedRecordQuery, values: unknown[]): string {
  const { userId, ids, since, coverFrom, statuses, when } = query;
  const conditions = toConditions(kind, { userId, range: { from: since, to: null }, coverFrom }, values);
  const add = (condition: string, value: unknown) => conditions.push(`${condition} $${values.push(value)}`);
  const addAny = (column: string, type: string, value: unknown) =>
    conditions.push(`${column} = ANY ($${values.push(value)}::${type}[])`);
  if (ids !== null) addAny('id', 'uuid', ids);
  if (statuses !== null) addAny('status', 'text', statuses);
  const [start, end] = TIMES[kind].span ?? [];
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
  const { window } = TIMES[kind];
  const conditions: string[] = [];
  const add = (condition: string, value: unknown) => conditions.push(`${condition} $${values.push(value)}`);
  add('user_id =', userId);
  // Without a window, facts with an unknown start are included; a condition would exclude them.
  if (window !== null && (range.from !== null || range.to !== null)) {
    add(`${window} >=`, lowerBound(range.from));
    add(`${window} <`, upperBound(range.to));
  }
  if (kind === 'report' && coverFrom !== null) add('range_from >=', lowerBound(coverFrom));
  if (kind === 'adherenceEntry' && medicationId !== undefined) add('medication_id =', medicationId);
  return conditions;
}

/**
 * Records of the same time or day are ordered by what an app sees of them. Row ids must not order what leaves (README); they only
 * separate records that look alike, of which an app cannot tell which is which.
 */
function toOrder(kind: HealthRecordKind): string {
  const seen = columnsOf(kind).filter((column) => column !== 'medication_id');
  return [TIMES[kind].order, ...seen, 'id'].join(', ');
}

/** A date would otherwise become a `Date` at midnight of the process's zone. */
const DATES_AS_TEXT: pg.CustomTypesConfig = {
  getTypeParser: (type, format) =>
    type === pg.types.builtins.DATE ? (text: string) => text : pg.types.getTypeParser(type, format),
};

function toItem<Item>(row: object): Item {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [toField(column), value])) as Item;
}

export function tableOf(kind: HealthRecordKind): string {
  return toColumnName(kind);
}

export function columnsOf(kind: HealthRecordKind): string[] {
  return fieldsOf(kind).map(([name]) => toColumnName(name));
}

/** The inverse of `toColumnName`. */
export function toField(column: string): string {
  return column.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
