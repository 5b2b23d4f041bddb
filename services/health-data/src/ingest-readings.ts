import { findMetricByName, type Metric, type MetricKey, roundToDecimals } from '@phds/catalog/metrics';
import type {
  Reading as ReadingMessage,
  ReadingWindow as ReadingWindowMessage,
} from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { Clock } from '@phds/service-kit/clock';
import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import { queryRows, readStatement, type Statement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import {
  checkMoment,
  checkSource,
  type PutResult,
  parseAll,
  RefusedItem,
  storeBatch,
  type WriteCounts,
} from './batches.ts';
import { type ImportName, lowerBound, upperBound, writeForUser } from './database.ts';
import { toDate } from './dates.ts';
import { refreshQuarters, TYPES_BY_END, type Written } from './quarters.ts';
import { type ReadingKey, toReadingId } from './row-ids.ts';
import { convertToMetricUnit } from './units.ts';
import type { Range } from './window.ts';

/** A new row with its id, the hash of its natural key. */
type Identified<Row> = Row & { readonly id: string };

/** Every reading of a type whose start is in a window. */
export interface ReadingWindow {
  readonly metric: MetricKey;
  /** Null for every source. */
  readonly source: string | null;
  readonly range: Range;
}

const MAX_READINGS = 5_000;
const MAX_WINDOWS = 100;

/** What an importer sends at once. */
interface ReadingBatch {
  readonly userId: string;
  readonly readings: readonly ReadingDraft[];
  readonly import?: ImportName | undefined;
}

/** What an importer deletes at once: natural keys and windows. */
interface ReadingDeletion {
  readonly userId: string;
  readonly keys?: readonly ReadingKeyDraft[];
  readonly windows?: readonly ReadingWindowDraft[];
}

/** A window before validation; an empty source is every source. */
type ReadingWindowDraft = Omit<ReadingWindowMessage, '$typeName' | '$unknown'>;

export interface ReadingIngestion {
  readonly readingWriter: ReadingWriter;
  readonly clock: Clock;
}

/**
 * Stores a batch of readings; the newest value of a natural key is kept. Throws INVALID_REQUEST for the batch itself, and NOT_FOUND if
 * it belongs to an import that does not exist.
 */
export async function putReadings(
  parts: ReadingIngestion,
  { userId, readings: drafts, import: during }: ReadingBatch,
): Promise<PutResult> {
  const now = parts.clock.now();
  const parse = (draft: ReadingDraft) => {
    const reading = parseReading(draft, now);
    return { ...reading, id: toReadingId(userId, reading) };
  };
  const batch = { userId, parameter: 'readings', drafts, max: MAX_READINGS };
  return storeBatch(batch, parse, (rows) => parts.readingWriter.put(userId, rows, during));
}

/**
 * Deletes readings by natural key and by window, in several transactions. Returns the number deleted. After an error some may be
 * left; a repeat deletes them. Throws INVALID_REQUEST before anything is deleted.
 */
export async function deleteReadings(
  parts: ReadingIngestion,
  { userId, keys = [], windows = [] }: ReadingDeletion,
): Promise<number> {
  parseUserId(userId);
  checkLength('keys', keys, MAX_READINGS);
  checkLength('windows', windows, MAX_WINDOWS);
  const rows = parseAll('keys', keys, (draft) => {
    const key = parseReadingKey(draft);
    return { ...key, id: toReadingId(userId, key) };
  });
  return parts.readingWriter.delete(userId, rows, parseAll('windows', windows, parseWindowDraft));
}

function checkLength(parameter: string, items: readonly unknown[], max: number): void {
  if (items.length <= max) return;
  throw invalidRequest(parameter, `must hold at most ${max.toLocaleString('en')} items`);
}

function parseWindowDraft({ type, source, from, to }: ReadingWindowDraft) {
  if (source !== '') checkSource(source);
  const range = { from: toDate(from), to: toDate(to) };
  for (const bound of [range.from, range.to]) {
    // An invalid bound must not be treated as absent.
    if (bound !== null && Number.isNaN(bound.getTime())) throw new RefusedItem('window is no time');
  }
  return { metric: parseMetric(type).key, source: source === '' ? null : source, range };
}

const PUT = readStatement(new URL('sql/put-readings.sql', import.meta.url));
const DELETE_BY_KEY = readStatement(new URL('sql/delete-readings.sql', import.meta.url));
const DELETE_PIECE = readStatement(new URL('sql/delete-window.sql', import.meta.url));
const FIND_NEXT_PIECE = readStatement(new URL('sql/find-next-piece.sql', import.meta.url));

// Number of readings in one piece of a deletion by window. Pieces follow the key order within a type, each in its own transaction.
// A piece takes a fraction of a second; a statement may take ten.
const PIECE_READINGS = 5_000;

const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** A reading's position in the primary key, within its type. */
interface Place {
  readonly startAt: string;
  readonly id: string;
}

/** Runs a statement that answers what it wrote, and refreshes the touched quarter hours. */
type Run = (statement: Statement, values: readonly unknown[]) => Promise<Written>;

type ReadingWriter = ReturnType<typeof createReadingWriter>;

/** Writes readings, and in the same transaction updates their counts and quarter hours. */
export function createReadingWriter(pool: pg.Pool, pieceReadings = PIECE_READINGS) {
  return {
    /** Ids are distinct. An existing row gets the new value. One transaction. */
    async put(
      userId: string,
      readings: readonly Identified<NewReading>[],
      during?: ImportName,
    ): Promise<WriteCounts> {
      if (readings.length === 0) return { inserted: 0, updated: 0, unchanged: 0 };
      const write = (client: pg.PoolClient) => runIn(client, userId)(PUT, toColumns(readings));
      const { number, inserted } = await writeForUser(pool, userId, write, during);
      return { inserted, updated: number - inserted, unchanged: readings.length - number };
    },
    /**
     * Deletes by key and by window. Returns the number deleted. A window takes as many transactions as its readings need. After an
     * error some readings may be left, with consistent counts and summaries; a repeat deletes them.
     */
    async delete(
      userId: string,
      keys: readonly Identified<ReadingKey>[],
      windows: readonly ReadingWindow[],
    ): Promise<number> {
      let deleted = 0;
      if (keys.length > 0) {
        const write = (client: pg.PoolClient) => runIn(client, userId)(DELETE_BY_KEY, toKeyColumns(keys));
        deleted += (await writeForUser(pool, userId, write)).number;
      }
      for (const window of windows) {
        let from: Place | null = { startAt: lowerBound(window.range.from), id: FIRST_ID };
        while (from !== null) {
          const place: Place = from;
          const piece = await writeForUser(pool, userId, (client) =>
            deletePiece(client, userId, window, place, pieceReadings),
          );
          deleted += piece.number;
          from = piece.next;
        }
      }
      return deleted;
    },
  };
}

function runIn(client: pg.PoolClient, userId: string): Run {
  return async (statement, values) => {
    const [written] = await queryRows<Written>(client, statement, userId, TYPES_BY_END, ...values);
    if (written === undefined) throw new Error('the statement returned no row');
    await refreshQuarters(client, userId, written);
    return written;
  };
}

/** Deletes the readings of a window within one piece. Returns their number, and where the next piece starts; null at the end. */
async function deletePiece(
  client: pg.PoolClient,
  userId: string,
  { metric, source, range }: ReadingWindow,
  from: Place,
  limit: number,
): Promise<{ number: number; next: Place | null }> {
  const end = upperBound(range.to);
  const place = [metric, from.startAt, from.id];
  const [next = null] = await queryRows<Place>(client, FIND_NEXT_PIECE, userId, ...place, end, limit);
  const to = next ?? { startAt: end, id: FIRST_ID };
  const values = [metric, source, from.startAt, from.id, to.startAt, to.id];
  const { number } = await runIn(client, userId)(DELETE_PIECE, values);
  return { number, next };
}

function toColumns(readings: readonly Identified<NewReading>[]): unknown[] {
  return [
    toArray(readings, (reading) => reading.id),
    toArray(readings, (reading) => reading.metric.key),
    toArray(readings, (reading) => reading.metric.category),
    toArray(readings, (reading) => reading.startAt.toISOString()),
    toArray(readings, (reading) => reading.endAt.toISOString()),
    toArray(readings, (reading) => reading.value),
    // Quoted, because unquoted `null` is no label.
    toArray(readings, (reading) => `"${reading.source}"`),
  ];
}

/**
 * A column as an array literal. Ids, catalog keys, instants and numbers need no quotes; pg's quoting of each costs a third of the
 * memory of an import.
 */
function toArray<Row>(rows: readonly Row[], toValue: (row: Row) => string | number | null): string {
  return `{${rows.map((row) => toValue(row) ?? 'NULL').join(',')}}`;
}

function toKeyColumns(keys: readonly Identified<ReadingKey>[]): unknown[] {
  return [
    keys.map(({ metric }) => metric.key),
    keys.map(({ startAt }) => startAt.toISOString()),
    keys.map(({ id }) => id),
  ];
}

/** A validated reading. */
interface NewReading extends ReadingKey {
  readonly value: number | null;
}

/** A reading before validation; without an end it ends at its start. */
export type ReadingDraft = Omit<ReadingMessage, '$typeName' | '$unknown'>;

/** The natural key of a reading before validation. */
type ReadingKeyDraft = Omit<ReadingDraft, 'value' | 'unit'>;

/** Validates, converts and rounds one reading. Throws RefusedItem with the reason. */
export function parseReading(draft: ReadingDraft, now: Date): NewReading {
  const key = parseReadingKey(draft);
  checkMoment('start', key.startAt, now);
  checkMoment('end', key.endAt, now);
  checkDuration(key);
  return { ...key, value: parseValue(key.metric, draft.value, draft.unit) };
}

/** Parses a natural key. Throws RefusedItem with the reason. */
export function parseReadingKey(draft: ReadingKeyDraft): ReadingKey {
  const { type, source } = draft;
  const metric = parseMetric(type);
  const startAt = toDate(draft.start);
  if (startAt === null) throw new RefusedItem('start is missing');
  const endAt = toDate(draft.end) ?? startAt;
  if (endAt < startAt) throw new RefusedItem('end is before start');
  checkSource(source);
  return { metric, startAt, endAt, source };
}

/** The metric type of a name in any spelling. Throws RefusedItem for an unknown one. */
function parseMetric(type: string): Metric {
  const metric = findMetricByName(type);
  if (metric === null) throw new RefusedItem('unknown type');
  return metric;
}

const DAY_MS = 86_400_000;

/** A type measured in minutes of a day cannot span more than a day. */
function checkDuration({ metric, startAt, endAt }: ReadingKey): void {
  if (metric.unit === 'min' && endAt.getTime() - startAt.getTime() > DAY_MS) {
    throw new RefusedItem('interval is longer than a day');
  }
}

function parseValue(metric: Metric, given: number | undefined, unit: string): number | null {
  if (given === undefined) {
    if (metric.nullable) return null;
    throw new RefusedItem('value is missing');
  }
  if (!Number.isFinite(given)) throw new RefusedItem('value is not a number');
  const converted = convertToMetricUnit(metric, given, unit);
  if (converted === null) throw new RefusedItem(`unit cannot be converted to ${metric.unit}`);
  const value = roundToDecimals(converted, metric.decimals);
  const { min, max } = metric.plausible;
  if (value < min || value > max) {
    throw new RefusedItem(`value is outside the plausible range ${min} to ${max} ${metric.unit}`);
  }
  return value;
}
