import { type Pagination, toPagination } from '@phds/catalog/pagination';
import type { ReaderIds } from './public-ids.ts';

// Each method works on the rows of one user only. A statement may answer several calls, each with the rows of its own user.
// Stores throw AppError: `unavailable` if the database cannot be reached, else `internal`.

/** One page of a list, with the number of items on all pages. */
export interface Page<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** A part of a list. */
export interface Slice {
  readonly limit: number;
  readonly offset: number;
}

/** A finished response: the JSON body of the public interface, encoded once, where the rows are. */
export interface Document {
  readonly body: Uint8Array;
  /**
   * Entity tag, including quotes: strong, but weak if the body contains its creation time or a cursor, which differ each time (RFC
   * 9110 section 8.8.3). It is keyed, so it neither confirms a guess of the body nor equals another reader's tag.
   */
  readonly etag: string;
  /** Number of items on all pages; 0 for a single object, and for changes. */
  readonly total: number;
  /** For changes: the cursor behind the last item. */
  readonly nextCursor?: string;
}

/** The result of a read, to be sent as a document. */
export interface Answer {
  /** The JSON body. */
  readonly text: string;
  /** The body without its creation time or cursor; null if it has none. */
  readonly timeless: string | null;
  /** Number of items on all pages; 0 for a single object, and for changes. */
  readonly total: number;
  /** For changes: the cursor behind the last item. */
  readonly nextCursor?: string;
  /** Number of records in the response, for the access record. */
  readonly recordCount: number;
  /** Of the scopes that the request was judged by, those that were needed, joined by spaces; absent if that is all of them. */
  readonly scope?: string;
}

/** The response for this reader. */
export function toDocument({ text, timeless, total, nextCursor }: Answer, ids: ReaderIds): Document {
  const body = Buffer.from(text);
  // A long text is not encoded twice.
  const etag =
    timeless === null ? `"${ids.toTag(text)}"` : `W/"${ids.toTag(timeless === text ? body : timeless)}"`;
  const document = { body, etag, total };
  return nextCursor === undefined ? document : { ...document, nextCursor };
}

/** The list envelope. */
export function toListAnswer(
  items: readonly object[],
  list: { page: number; pageSize: number; total: number },
): Answer {
  return toEncodedListAnswer(
    items.map((item) => JSON.stringify(item)),
    list,
  );
}

/** The list envelope for items that are already JSON texts. */
export function toEncodedListAnswer(
  items: readonly string[],
  list: { page: number; pageSize: number; total: number },
): Answer {
  const pagination: Pagination = toPagination(list);
  const text = `{"data":[${items.join(',')}],"pagination":${JSON.stringify(pagination)}}`;
  return { text, timeless: null, total: list.total, recordCount: items.length };
}

/** The envelope of a single object. */
export function toObjectAnswer(data: object, recordCount: number): Answer {
  return { text: toObjectText(data), timeless: null, total: 0, recordCount };
}

/** The envelope of an object with its creation time. A new time alone is not a new version: the tag is weak and ignores it. */
export function toTimedObjectAnswer<D extends object, M extends keyof D>(
  data: D,
  moment: M,
  recordCount: number,
): Answer {
  const timeless = toObjectText({ ...data, [moment]: null });
  return { text: toObjectText(data), timeless, total: 0, recordCount };
}

function toObjectText(data: object): string {
  return `{"data":${JSON.stringify(data)}}`;
}
