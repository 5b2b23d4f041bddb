import type { MetricKey } from '@phds/catalog/metrics';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { readStatement } from '@phds/service-kit/postgres/statement';
import type pg from 'pg';
import {
  type ChangePlace,
  type ReadingChange,
  type ReadingChangeQuery,
  type ReadingChangeReader,
  type ReadingChanges,
  type SeenChange,
  START,
} from '../app/ports.ts';
import { lowerBound, TEXT_ROWS, toTimestamp } from './database.ts';

const LIST = readStatement(new URL('sql/reading-changes.sql', import.meta.url));
const BEFORE = readStatement(new URL('sql/change-before.sql', import.meta.url));

type State = readonly [
  latestNumber: string | null,
  latestAt: string | null,
  anchorAt: string | null,
  lastVisibleNumber: string | null,
  lastVisibleAt: string | null,
  searchEndNumber: string | null,
  searchEndStart: string | null,
  searchEndAt: string | null,
];

type Row = readonly [
  id: string,
  type: MetricKey,
  value: string | null,
  source: string,
  start: string,
  end: string,
  number: string,
  at: string | null,
  isDeleted: 't' | 'f',
  ...State,
];

type EmptyRow = readonly [null, null, null, null, null, null, null, null, null, ...State];

/** A page ends after so many changes of the category in the window, however few of them are of its type. */
const SEARCH_MAX = 10_000;

/** Changes of readings. One prepared statement returns the page and the state of the changes from one snapshot. */
export function createPgReadingChanges(pool: pg.Pool, searchMax = SEARCH_MAX): ReadingChangeReader {
  return translatingErrors({
    async findPlace(userId, at) {
      const { rows } = await pool.query<{ number: string; at: Date }>({
        ...BEFORE,
        values: [userId, lowerBound(at)],
      });
      const [row] = rows;
      return row === undefined ? START : { seen: { number: Number(row.number), at: row.at }, item: null };
    },
    async list(query) {
      // One more than asked for, to know whether there are more.
      const limit = query.limit + 1;
      const values = [...toValues(query, limit), query.metric === null ? limit : searchMax];
      const result = await pool.query({ ...TEXT_ROWS, ...LIST, values });
      // With rowMode 'array' a row is the array itself, which the driver's types cannot express.
      return toChanges(query, result.rows as unknown as (Row | EmptyRow)[]);
    },
  });
}

function toValues(query: ReadingChangeQuery, limit: number): unknown[] {
  const { userId, category, metric, since, from, anchor } = query;
  const seen = from.seen?.number ?? 0;
  const place =
    from.item === null
      ? [seen + 1, '-infinity', '', '', '-infinity']
      : [seen, from.item.startAt, from.item.metric, from.item.source, from.item.endAt];
  return [userId, category, metric, lowerBound(since), limit, ...place, anchor?.number ?? 0];
}

function toChanges(query: ReadingChangeQuery, rows: readonly (Row | EmptyRow)[]): ReadingChanges {
  const changed = rows.filter(isChange).map(toChange);
  const items = changed.slice(0, query.limit);
  const state = stateOf(rows);
  const [latestNumber, latestAt, anchorAt, lastNumber, lastAt] = state;
  const latest = toSeen(latestNumber, latestAt);
  const last = items.at(-1)?.place ?? query.from;
  const more = changed.length > items.length ? last : toSearchEnd(state);
  return {
    items,
    hasMore: more !== null,
    // Behind everything, also behind changes that this list does not show: they are not searched again.
    next: more ?? (latest === null ? last : { seen: latest, item: null }),
    isHeld: isHeld(query.anchor, toDate(anchorAt)),
    latest,
    lastChange: toSeen(lastNumber, lastAt),
  };
}

/** The place where the search ended before it had found a full page; null if it went through all changes. */
function toSearchEnd([, , , , , number, start, at]: State): ChangePlace | null {
  if (number === null || start === null) return null;
  // Behind every reading with this start: a type is never empty.
  const next = new Date(new Date(toTimestamp(start)).getTime() + 1);
  const item = { startAt: next, metric: '', source: '', endAt: next };
  return { seen: { number: Number(number), at: toDate(at) }, item };
}

function toSeen(number: string | null, at: string | null): SeenChange | null {
  return number === null ? null : { number: Number(number), at: toDate(at) };
}

function stateOf(rows: readonly (Row | EmptyRow)[]): State {
  const [row] = rows;
  if (row === undefined) throw new Error('the statement returned no row');
  return row.slice(9) as unknown as State;
}

/**
 * Whether the change with the number of the anchor is the same. A change of another time has its number after an erasure or in a
 * restored database. The time of an old change is removed: it is no longer known to be the same.
 */
function isHeld(anchor: SeenChange | null, at: Date | null): boolean {
  return anchor === null || (anchor.at !== null && anchor.at.getTime() === at?.getTime());
}

function isChange(row: Row | EmptyRow): row is Row {
  return row[0] !== null;
}

function toChange([id, metric, value, source, start, end, number, at, isDeleted]: Row): ReadingChange {
  const timestamp = toTimestamp(start);
  const key = { startAt: new Date(timestamp), metric, source, endAt: new Date(toTimestamp(end)) };
  return {
    reading: { id, metric, value: value === null ? null : Number(value), source, timestamp },
    isDeleted: isDeleted === 't',
    place: { seen: { number: Number(number), at: toDate(at) }, item: key },
  };
}

function toDate(text: string | null): Date | null {
  return text === null ? null : new Date(toTimestamp(text));
}
