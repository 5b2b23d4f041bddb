import type { ChangedKey, ChangePlace } from './change-ports.ts';
import type { ReaderIds } from './public-ids.ts';

/** What a cursor tells: a place in the order of changes, and what was left out before it. */
export interface ChangeCursor {
  readonly place: ChangePlace;
  /** Beginning of the data window at the time; null for no limit. */
  readonly since: Date | null;
}

const PREFIX = 'cur_';

/**
 * A cursor as text. It works only for the reader and the context (a list of a person) that it was made for. Sealed, because the
 * number counts changes that the reader may not see.
 */
export function formatCursor(ids: ReaderIds, context: string, { place, since }: ChangeCursor): string {
  const { seen, item } = place;
  const parts = [
    since?.getTime() ?? null,
    ...(seen === null ? [] : [seen.number, seen.at?.getTime() ?? null]),
    ...(item === null ? [] : [item.startAt.getTime(), item.endAt.getTime(), item.metric, item.source]),
  ];
  return PREFIX + ids.seal(JSON.stringify(parts), context);
}

type Sealed = readonly [
  since: number | null,
  number?: number,
  at?: number | null,
  startAt?: number,
  endAt?: number,
  metric?: string,
  source?: string,
];

/** The cursor of a text; null if `formatCursor` did not make it for this reader and context. */
export function findCursor(ids: ReaderIds, context: string, text: string): ChangeCursor | null {
  const sealed = text.startsWith(PREFIX) ? ids.open(text.slice(PREFIX.length), context) : null;
  if (sealed === null) return null;
  // Only `formatCursor` can have sealed it.
  const [since, number, at = null, ...key] = JSON.parse(sealed) as Sealed;
  const seen = number === undefined ? null : { number, at: toDate(at) };
  return { place: { seen, item: toKey(...key) }, since: toDate(since) };
}

function toKey(startAt?: number, endAt?: number, metric = '', source = ''): ChangedKey | null {
  if (startAt === undefined || endAt === undefined) return null;
  return { startAt: new Date(startAt), endAt: new Date(endAt), metric, source };
}

function toDate(time: number | null): Date | null {
  return time === null ? null : new Date(time);
}
