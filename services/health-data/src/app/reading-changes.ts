import { CURSOR_EXPIRED_DETAIL } from '@phds/catalog/problems';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { type ChangeCursor, findCursor, formatCursor } from './change-cursors.ts';
import type { DataRequest } from './data-request.ts';
import { findOwnWindow } from './data-window.ts';
import type { Answer } from './document.ts';
import type {
  ProfileStore,
  ReadingChange,
  ReadingChangeQuery,
  ReadingChangeReader,
  ReadingChanges,
  SeenChange,
} from './ports.ts';
import { encodeReading } from './readings.ts';

interface Ports {
  readonly readingChanges: ReadingChangeReader;
  readonly profiles: ProfileStore;
  readonly clock: Clock;
  /** How long the times of changes are kept, and cursors work. */
  readonly changeDays: number;
}

/**
 * The readings of a category that changed since an instant or a cursor, and the deleted ones, each with its latest change, oldest
 * change first. Returns CURSOR_EXPIRED if what was before the cursor may have changed unseen. Throws INVALID_REQUEST for a cursor of
 * another list. Nothing in the answer depends on changes that the reader may not see.
 */
export async function readReadingChanges(ports: Ports, request: DataRequest): Promise<Answer | AppError> {
  const { path, ids, userId, parameters } = request;
  const { category } = path;
  if (category === null) throw new RangeError('Readings are read by category.');
  const metric = parameters.metric?.key ?? null;
  const context = JSON.stringify([userId, category, metric]);
  const { timeZone, since } = await findOwnWindow(ports.profiles, request);
  const madeAt = ports.clock.now();
  const keptSince = new Date(madeAt.getTime() - ports.changeDays * DAY_MS);
  const cursor = await findStart(ports, request, context, since);
  const query = { userId, category, metric, since, limit: parameters.pageSize };
  const page = isTooOld(cursor, keptSince) ? null : await findPage(ports.readingChanges, query, cursor);
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
  { readingChanges }: Ports,
  { ids, userId, parameters }: DataRequest,
  context: string,
  since: Date | null,
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

/** By age alone, whatever has changed since. */
function isTooOld({ madeAt }: ChangeCursor, keptSince: Date): boolean {
  return madeAt !== null && madeAt < keptSince;
}

function toLater(one: SeenChange | null, other: SeenChange | null): SeenChange | null {
  if (one === null || other === null) return one ?? other;
  return one.number < other.number ? other : one;
}

/** The time of a change as text, unless it is so old that it may be forgotten. */
function findKept(at: Date | null, keptSince: Date): string | null {
  return at === null || at < keptSince ? null : at.toISOString();
}

/** The time of a change whose time is not known. */
const UNKNOWN_TIME = '1970-01-01T00:00:00.000Z';

function encodeChange(
  { reading, isDeleted, place }: ReadingChange,
  publicId: string,
  keptSince: Date,
): string {
  const updatedAt = findKept(place.seen?.at ?? null, keptSince) ?? UNKNOWN_TIME;
  const item = encodeReading(reading, publicId);
  if (!isDeleted) return `${item.slice(0, -1)},"updatedAt":"${updatedAt}","deleted":false}`;
  const { id, type, timestamp } = JSON.parse(item) as { id: string; type: string; timestamp: string };
  return JSON.stringify({ id, type, timestamp, updatedAt, deleted: true });
}
