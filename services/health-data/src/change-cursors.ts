import { randomBytes } from 'node:crypto';
import type { ReaderIds } from './public-ids.ts';

/** A position in the order of the changes of a user: by number of the change, then start, type, source and end of the reading. */
export interface ChangePlace {
  /** The last change that begins before the position; null before all changes. */
  readonly seen: SeenChange | null;
  /** The item of that change before the position; null at its end. */
  readonly item: ChangedKey | null;
}

export interface SeenChange {
  readonly number: number;
  /** Null when it was removed, because the change is old. */
  readonly at: Date | null;
}

/** The place before all changes. */
export const START: ChangePlace = { seen: null, item: null };

export interface ChangedKey {
  readonly startAt: Date;
  readonly metric: string;
  readonly source: string;
  readonly endAt: Date;
}

/** The content of a cursor: a position in the order of changes, and what was left out before it. */
export interface ChangeCursor {
  /** Where the next page begins. The change before it can be one that the reader may not see. */
  readonly place: ChangePlace;
  /** The latest change at the time, of any category; null if there was none. Kept for as long as the cursor works. */
  readonly latest: SeenChange | null;
  /** The latest change before the position that the reader may see; null if there is none. */
  readonly visible: SeenChange | null;
  /** Beginning of the data window at the time; null for no limit. */
  readonly since: Date | null;
  /** Null for a request that begins at a time. */
  readonly madeAt: Date | null;
}

const PREFIX = 'cur_';
const NONCE_BYTES = 12;
/** More than the longest cursor has, so that all are equally long. */
const LENGTH = 256;

type Sealed = readonly [
  since: number | null,
  number: number | null,
  at: number | null,
  startAt: number | null,
  endAt: number | null,
  metric: string | null,
  source: string | null,
  madeAt: number | null,
  visibleNumber: number | null,
  visibleAt: number | null,
  latestNumber: number | null,
  latestAt: number | null,
  nonce: string,
];

/**
 * A cursor as text. It works only for the reader and the context (a list of a person) that it was made for. Sealed, because the
 * number counts changes that the reader may not see. With a nonce and of one length, so that the texts of two cursors do not tell
 * whether their places are the same.
 */
export function formatCursor(ids: ReaderIds, context: string, cursor: ChangeCursor): string {
  const { place, latest, visible, since, madeAt } = cursor;
  const { seen, item } = place;
  const parts: Sealed = [
    toTime(since),
    seen?.number ?? null,
    toTime(seen?.at),
    toTime(item?.startAt),
    toTime(item?.endAt),
    item?.metric ?? null,
    item?.source ?? null,
    toTime(madeAt),
    visible?.number ?? null,
    toTime(visible?.at),
    latest?.number ?? null,
    toTime(latest?.at),
    randomBytes(NONCE_BYTES).toString('base64url'),
  ];
  return PREFIX + ids.seal(JSON.stringify(parts).padEnd(LENGTH), context);
}

/** The cursor of a text; null if `formatCursor` did not make it for this reader and context. */
export function findCursor(ids: ReaderIds, context: string, text: string): ChangeCursor | null {
  const sealed = text.startsWith(PREFIX) ? ids.open(text.slice(PREFIX.length), context) : null;
  if (sealed === null) return null;
  // Only `formatCursor` can have sealed it.
  const parts = JSON.parse(sealed) as Sealed;
  const [since, number, at, startAt, endAt, metric, source, madeAt, ...changes] = parts;
  const [visibleNumber, visibleAt, latestNumber, latestAt] = changes;
  return {
    place: { seen: toSeen(number, at), item: toKey(startAt, endAt, metric, source) },
    latest: toSeen(latestNumber, latestAt),
    visible: toSeen(visibleNumber, visibleAt),
    since: toDate(since),
    madeAt: toDate(madeAt),
  };
}

function toSeen(number: number | null, at: number | null): SeenChange | null {
  return number === null ? null : { number, at: toDate(at) };
}

function toKey(
  startAt: number | null,
  endAt: number | null,
  metric: string | null,
  source: string | null,
): ChangedKey | null {
  if (startAt === null || endAt === null) return null;
  return { startAt: new Date(startAt), endAt: new Date(endAt), metric: metric ?? '', source: source ?? '' };
}

function toDate(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}

function toTime(date: Date | null | undefined): number | null {
  return date?.getTime() ?? null;
}
