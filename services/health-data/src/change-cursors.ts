import { randomBytes } from 'node:crypto';
import type { ReaderIds } from './public-ids.ts';

/** A position in the order of the changes of a user: by number of the change, then start, type, source and end of the reading. */
export interface ChangePlace {
  /** The last change that begins before the position; null before all changes. */
  readonly seen: SeenChange | null;
  /** The item of that change before the position; null at its end. */
  readonly item: ChangedKey | null;
}

/** Times are Unix milliseconds. */
export interface SeenChange {
  readonly number: number;
  /** Null when it was removed, because the change is old. */
  readonly at: number | null;
}

/** The place before all changes. */
export const START: ChangePlace = { seen: null, item: null };

interface ChangedKey {
  readonly startAt: number;
  readonly metric: string;
  readonly source: string;
  readonly endAt: number;
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
  readonly since: number | null;
  /** Null for a request that begins at a time. */
  readonly madeAt: number | null;
}

const PREFIX = 'cur_';
const NONCE_BYTES = 12;
/** More than the longest cursor has, so that all are equally long. */
const LENGTH = 256;

type SealedChange = readonly [number: number, at: number | null] | null;
type SealedKey = readonly [startAt: number, metric: string, source: string, endAt: number] | null;

type Sealed = readonly [
  since: number | null,
  madeAt: number | null,
  seen: SealedChange,
  item: SealedKey,
  latest: SealedChange,
  visible: SealedChange,
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
  const nonce = randomBytes(NONCE_BYTES).toString('base64url');
  const toSealed = (change: SeenChange | null) => change && ([change.number, change.at] as const);
  const key = item && ([item.startAt, item.metric, item.source, item.endAt] as const);
  const changes = [toSealed(seen), key, toSealed(latest), toSealed(visible)] as const;
  const sealed: Sealed = [since, madeAt, ...changes, nonce];
  return PREFIX + ids.seal(JSON.stringify(sealed).padEnd(LENGTH), context);
}

/** The cursor of a text; null if `formatCursor` did not make it for this reader and context. */
export function findCursor(ids: ReaderIds, context: string, text: string): ChangeCursor | null {
  const sealed = text.startsWith(PREFIX) ? ids.open(text.slice(PREFIX.length), context) : null;
  if (sealed === null) return null;
  // Only `formatCursor` can have sealed it.
  const [since, madeAt, seen, item, latest, visible] = JSON.parse(sealed) as Sealed;
  const toChange = (change: SealedChange) => change && { number: change[0], at: change[1] };
  const key = item && { startAt: item[0], metric: item[1], source: item[2], endAt: item[3] };
  const place = { seen: toChange(seen), item: key };
  return { place, latest: toChange(latest), visible: toChange(visible), since, madeAt };
}
