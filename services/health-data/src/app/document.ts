import type { Pagination } from '@phds/catalog/pagination';
import { toPagination } from '@phds/catalog/pagination';
import type { ReaderIds } from './public-ids.ts';

/** A finished answer: the JSON body of the public interface, encoded once, here where the rows are. */
export interface Document {
  readonly body: Uint8Array;
  /**
   * Entity tag, quotes included: strong, but weak where the body tells when it was made (RFC 9110 section 8.8.3). It is keyed, so it
   * neither confirms a guess of the body nor equals another reader's.
   */
  readonly etag: string;
  /** Items on all pages; 0 for a single object. */
  readonly total: number;
}

/** What a read came to. It leaves as a document. */
export interface Answer {
  /** The JSON body. */
  readonly text: string;
  /** The body without the moment it was made; null where it tells none. */
  readonly timeless: string | null;
  /** Items on all pages; 0 for a single object. */
  readonly total: number;
  /** How many records it shows, for the access record. */
  readonly recordCount: number;
}

/** The answer as this reader gets it. */
export function toDocument({ text, timeless, total }: Answer, ids: ReaderIds): Document {
  const etag = timeless === null ? `"${ids.toTag(text)}"` : `W/"${ids.toTag(timeless)}"`;
  return { body: Buffer.from(text), etag, total };
}

/** The list envelope (interface.md 2.1). */
export function toListAnswer(
  items: readonly object[],
  list: { page: number; pageSize: number; total: number },
): Answer {
  return toEncodedListAnswer(
    items.map((item) => JSON.stringify(item)),
    list,
  );
}

/** The list envelope of items that are JSON texts already. */
export function toEncodedListAnswer(
  items: readonly string[],
  list: { page: number; pageSize: number; total: number },
): Answer {
  const pagination: Pagination = toPagination(list);
  const text = `{"data":[${items.join(',')}],"pagination":${JSON.stringify(pagination)}}`;
  return { text, timeless: null, total: list.total, recordCount: items.length };
}

/** The envelope of a single object (interface.md 2.1). */
export function toObjectAnswer(data: object, recordCount: number): Answer {
  return { text: toObjectText(data), timeless: null, total: 0, recordCount };
}

/**
 * The same for an object that tells when it was made, which alone makes no new answer of it: its tag is weak and leaves that
 * moment out.
 */
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
