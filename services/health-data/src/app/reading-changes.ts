import { CURSOR_EXPIRED_DETAIL } from '@phds/catalog/problems';
import { AppError, invalidRequest } from '@phds/service-kit/errors';
import { type ChangeCursor, findCursor, formatCursor } from './change-cursors.ts';
import type { ReadingChange, ReadingChangeReader } from './change-ports.ts';
import type { DataRequest } from './data-request.ts';
import { findOwnWindow } from './data-window.ts';
import type { Answer } from './document.ts';
import type { ProfileStore } from './ports.ts';
import { encodeReading } from './readings.ts';

interface Ports {
  readonly readingChanges: ReadingChangeReader;
  readonly profiles: ProfileStore;
}

/**
 * The readings of a category that changed since an instant or a cursor, and the deleted ones, each with its latest change, oldest
 * change first. Returns CURSOR_EXPIRED if what was before the cursor may have changed unseen. Throws INVALID_REQUEST for a cursor of
 * another list.
 */
export async function readReadingChanges(ports: Ports, request: DataRequest): Promise<Answer | AppError> {
  const { path, ids, userId, parameters } = request;
  if (path.category === null) throw new RangeError('Readings are read by category.');
  const metric = parameters.metric?.key ?? null;
  const context = JSON.stringify([userId, path.category, metric]);
  const { timeZone, since } = await findOwnWindow(ports.profiles, request);
  const from = await findStart(ports, request, context, since);
  const { category } = path;
  const page = await ports.readingChanges.list({
    userId,
    category,
    metric,
    since,
    limit: parameters.pageSize,
    from: from.place,
  });
  if (!page.isHeld || isOpened(from, since)) return new AppError('cursor_expired', CURSOR_EXPIRED_DETAIL);
  const publicIds = ids.toPublicIds(
    'rdg',
    page.items.map(({ reading }) => reading),
  );
  const items = page.items.map((change, index) => encodeChange(change, publicIds[index] ?? ''));
  const nextCursor = formatCursor(ids, context, { place: page.next, since });
  const { hasMore, lastChangeAt } = page;
  const sync = { cursor: nextCursor, hasMore, lastDataAt: lastChangeAt?.toISOString() ?? null, timeZone };
  return {
    text: `{"data":[${items.join(',')}],"sync":${JSON.stringify(sync)}}`,
    timeless: null,
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
    return { place: await readingChanges.findPlace(userId, updatedSince), since };
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

/** Whether readings from before the cursor's window may be seen now. */
function isOpened({ place, since: before }: ChangeCursor, since: Date | null): boolean {
  // Nothing has been passed over yet.
  if (place.seen === null || before === null) return false;
  return since === null || since < before;
}

/** The time of a change from before changes had times. */
const UNKNOWN_TIME = '1970-01-01T00:00:00.000Z';

function encodeChange({ reading, isDeleted, place }: ReadingChange, publicId: string): string {
  const updatedAt = place.seen?.at?.toISOString() ?? UNKNOWN_TIME;
  const item = encodeReading(reading, publicId);
  if (!isDeleted) return `${item.slice(0, -1)},"updatedAt":"${updatedAt}","deleted":false}`;
  const { id, type, timestamp } = JSON.parse(item) as { id: string; type: string; timestamp: string };
  return JSON.stringify({ id, type, timestamp, updatedAt, deleted: true });
}
