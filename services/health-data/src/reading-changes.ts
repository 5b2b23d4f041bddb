import type { Category } from '@phds/catalog/categories';
import type { MetricKey } from '@phds/catalog/metrics';
import { CURSOR_EXPIRED_DETAIL } from '@phds/catalog/problems';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { queryRows, readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import {
  type ChangeCursor,
  type ChangePlace,
  findCursor,
  formatCursor,
  type SeenChange,
  START,
} from './change-cursors.ts';
import { lowerBound, TEXT_ROWS, toTimestamp } from './database.ts';
import type { Answer } from './document.ts';
import { findOwnWindow, type Profiles } from './profiles.ts';
import { encodeReading, type Reading } from './readings.ts';
import type { DataRequest } from './request.ts';

/** The latest change of a reading. */
interface ReadingChange {
  /** A deleted reading has the value null. */
  readonly reading: Reading;
  readonly isDeleted: boolean;
  readonly place: ChangePlace;
}

export interface ReadingChangeQuery {
  readonly userId: string;
  readonly category: Category;
  /** Null for every type of the category. */
  readonly metric: MetricKey | null;
  /** Readings that start earlier (Unix milliseconds) are left out; null for no limit. */
  readonly since: number | null;
  readonly limit: number;
  readonly from: ChangePlace;
  /** A change that was there when the reader got the cursor; null if there was none. */
  readonly anchor: SeenChange | null;
}

interface ReadingChanges {
  readonly items: readonly ReadingChange[];
  /** Whether there may be more of them behind `next`. Also true when the search for a type ended early; never because of hidden changes. */
  readonly hasMore: boolean;
  /** Behind the last item, or further, where the search ended; behind all changes of the user if there are no more items. */
  readonly next: ChangePlace;
  /** Whether `anchor` is still there, and so everything that was before it, apart from later changes. */
  readonly isHeld: boolean;
  /** The latest change of the user, of any category; null if there is none. */
  readonly latest: SeenChange | null;
  /** The latest change of the category that is not left out by `since`; null if there is none. */
  readonly lastChange: SeenChange | null;
}

interface Parts {
  readonly readingChanges: ReadingChangeReader;
  readonly profiles: Profiles;
  readonly clock: Clock;
  /** How long the times of changes are kept, and cursors work. */
  readonly changeDays: number;
}

/**
 * The readings of a category that changed since an instant or a cursor, and the deleted ones, each with its latest change, oldest
 * change first. Returns CURSOR_EXPIRED if what was before the cursor may have changed unseen. Throws INVALID_REQUEST for a cursor of
 * another list. Nothing in the answer depends on changes that the reader may not see.
 */
export async function readReadingChanges(parts: Parts, request: DataRequest): Promise<Answer | AppError> {
  const { path, ids, userId, parameters } = request;
  const { category } = path;
  if (category === null) throw new RangeError('Readings are read by category.');
  const metric = parameters.metric?.key ?? null;
  const context = JSON.stringify([userId, category, metric]);
  const { timeZone, since: firstDay } = await findOwnWindow(parts.profiles, request);
  const since = firstDay?.getTime() ?? null;
  const madeAt = parts.clock.now().getTime();
  const keptSince = madeAt - parts.changeDays * DAY_MS;
  const cursor = await findStart(parts, request, context, since);
  const query = { userId, category, metric, since, limit: parameters.pageSize };
  // By age alone, whatever has changed since.
  const isTooOld = cursor.madeAt !== null && cursor.madeAt < keptSince;
  const page = isTooOld ? null : await findPage(parts.readingChanges, query, cursor);
  if (page === null) return new AppError('cursor_expired', CURSOR_EXPIRED_DETAIL);
  const publicIds = ids.toPublicIds(
    'rdg',
    page.items.map(({ reading }) => reading),
  );
  const items = page.items.map((change, index) => encodeChange(change, publicIds[index] ?? '', keptSince));
  const { hasMore, next, latest, lastChange } = page;
  const visible = hasMore ? next.seen : toLater(lastChange, cursor.visible);
  const nextCursor = formatCursor(ids, context, {
    place: next,
    latest: latest ?? next.seen,
    visible,
    since,
    madeAt,
  });
  const lastDataAt = findKept(lastChange?.at ?? null, keptSince);
  const toText = (cursor: string | null) =>
    `{"data":[${items.join(',')}],"sync":${JSON.stringify({ cursor, hasMore, lastDataAt, timeZone })}}`;
  return {
    text: toText(nextCursor),
    timeless: toText(null),
    total: 0,
    nextCursor,
    recordCount: items.length,
  };
}

async function findStart(
  { readingChanges }: Parts,
  { ids, userId, parameters }: DataRequest,
  context: string,
  since: number | null,
): Promise<ChangeCursor> {
  const { updatedSince } = parameters;
  if (updatedSince instanceof Date) {
    const place = await readingChanges.findPlace(userId, updatedSince);
    return { place, latest: place.seen, visible: null, since, madeAt: null };
  }
  const cursor = findCursor(ids, context, updatedSince ?? '');
  if (cursor === null) {
    throw invalidRequest(
      'updatedSince',
      'is not a cursor that this list has given to this app for this person',
    );
  }
  return cursor;
}

/**
 * The page behind a cursor; null if something that the reader has seen may have changed without the reader learning of it. If only changes
 * that the reader may not see were lost, it goes on behind the latest change that it may see.
 */
async function findPage(
  changes: ReadingChangeReader,
  query: Omit<ReadingChangeQuery, 'from' | 'anchor'>,
  { place, latest, visible, since: before }: ChangeCursor,
): Promise<ReadingChanges | null> {
  const { since } = query;
  const isOpened = before !== null && (since === null || since < before);
  if (isOpened && visible !== null) return null;
  if (!isOpened) {
    const page = await changes.list({ ...query, from: place, anchor: latest });
    if (page.isHeld) return page;
  }
  // A place at an item is behind what the reader has seen. A place without one can be behind changes that the reader may not see.
  const from = visible === null || place.item === null ? { seen: visible, item: null } : place;
  const page = await changes.list({ ...query, from, anchor: visible });
  return page.isHeld ? page : null;
}

const DAY_MS = 86_400_000;

function toLater(one: SeenChange | null, other: SeenChange | null): SeenChange | null {
  if (one === null || other === null) return one ?? other;
  return one.number < other.number ? other : one;
}

/** The time of a change as text, unless it is so old that it may be forgotten. */
function findKept(at: number | null, keptSince: number): string | null {
  return at === null || at < keptSince ? null : new Date(at).toISOString();
}

/** The time of a change whose time is not known. */
const UNKNOWN_TIME = '1970-01-01T00:00:00.000Z';

function encodeChange(
  { reading, isDeleted, place }: ReadingChange,
  publicId: string,
  keptSince: number,
): string {
  const updatedAt = findKept(place.seen?.at ?? null, keptSince) ?? UNKNOWN_TIME;
  const item = encodeReading(reading, publicId);
  if (!isDeleted) return `${item.slice(0, -1)},"updatedAt":"${updatedAt}","deleted":false}`;
  const { id, type, timestamp } = JSON.parse(item) as { id: string; type: string; timestamp: string };
  return JSON.stringify({ id, type, timestamp, updatedAt, deleted: true });
}

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

export type ReadingChangeReader = ReturnType<typeof createReadingChanges>;

/** Changes of readings. One prepared statement returns the page and the state of the changes from one snapshot. */
export function createReadingChanges(pool: pg.Pool, searchMax = SEARCH_MAX) {
  return {
    /** The place before the first change at this time or later. */
    async findPlace(userId: string, at: Date): Promise<ChangePlace> {
      const [row] = await queryRows<{ number: string; at: Date }>(pool, BEFORE, userId, lowerBound(at));
      return row === undefined
        ? START
        : { seen: { number: Number(row.number), at: row.at.getTime() }, item: null };
    },
    /** From one snapshot. */
    async list(query: ReadingChangeQuery): Promise<ReadingChanges> {
      // One more than asked for, to know whether there are more.
      const limit = query.limit + 1;
      const values = [...toValues(query, limit), query.metric === null ? limit : searchMax];
      const result = await pool.query({ ...TEXT_ROWS, ...LIST, values });
      // With rowMode 'array' a row is the array itself, which the driver's types cannot express.
      return toChanges(query, result.rows as unknown as (Row | EmptyRow)[]);
    },
  };
}

function toValues(query: ReadingChangeQuery, limit: number): unknown[] {
  const { userId, category, metric, since, from, anchor } = query;
  const seen = from.seen?.number ?? 0;
  const place =
    from.item === null
      ? [seen + 1, '-infinity', '', '', '-infinity']
      : [seen, toText(from.item.startAt), from.item.metric, from.item.source, toText(from.item.endAt)];
  const beginning = since === null ? '-infinity' : lowerBound(new Date(since));
  return [userId, category, metric, beginning, limit, ...place, anchor?.number ?? 0];
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
    isHeld: isHeld(query.anchor, toTime(anchorAt)),
    latest,
    lastChange: toSeen(lastNumber, lastAt),
  };
}

/** The place where the search ended before it had found a full page; null if it went through all changes. */
function toSearchEnd([, , , , , number, start, at]: State): ChangePlace | null {
  if (number === null || start === null) return null;
  // Behind every reading with this start: a type is never empty.
  const next = Date.parse(toTimestamp(start)) + 1;
  const item = { startAt: next, metric: '', source: '', endAt: next };
  return { seen: toSeen(number, at), item };
}

function toSeen(number: string | null, at: string | null): SeenChange | null {
  return number === null ? null : { number: Number(number), at: toTime(at) };
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
function isHeld(anchor: SeenChange | null, at: number | null): boolean {
  return anchor === null || (anchor.at !== null && anchor.at === at);
}

function isChange(row: Row | EmptyRow): row is Row {
  return row[0] !== null;
}

function toChange([id, metric, value, source, start, end, number, at, isDeleted]: Row): ReadingChange {
  const timestamp = toTimestamp(start);
  const key = { startAt: Date.parse(timestamp), metric, source, endAt: Date.parse(toTimestamp(end)) };
  return {
    reading: { id, metric, value: value === null ? null : Number(value), source, timestamp },
    isDeleted: isDeleted === 't',
    place: { seen: toSeen(number, at), item: key },
  };
}

function toTime(text: string | null): number | null {
  return text === null ? null : Date.parse(toTimestamp(text));
}

function toText(time: number): string {
  return new Date(time).toISOString();
}
