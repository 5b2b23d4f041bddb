import { hash } from 'node:crypto';
import type { Pagination } from '@phds/catalog/pagination';
import { toPagination } from '@phds/catalog/pagination';

/** A finished answer: the JSON body of the public interface, encoded once, here where the rows are. */
export interface Document {
  readonly body: Uint8Array;
  /** Entity tag of the body, quotes included: strong, but weak where the body tells when it was made (RFC 9110 section 8.8.3). */
  readonly etag: string;
  /** Items on all pages; 0 for a single object. */
  readonly total: number;
}

/** An answer with the number of records it shows, for the access record. */
export interface Answer {
  readonly document: Document;
  readonly recordCount: number;
}

// 162 of the hash's 256 bits: more than enough to tell bodies apart, in a short header.
const ETAG_LENGTH = 27;

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
  return { document: toDocument(text, list.total), recordCount: items.length };
}

/** The envelope of a single object (interface.md 2.1). */
export function toObjectAnswer(data: object, recordCount: number): Answer {
  return { document: toDocument(toObjectText(data), 0), recordCount };
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
  const body = Buffer.from(toObjectText(data));
  const etag = `W/${toTag(toObjectText({ ...data, [moment]: null }))}`;
  return { document: { body, etag, total: 0 }, recordCount };
}

function toObjectText(data: object): string {
  return `{"data":${JSON.stringify(data)}}`;
}

function toDocument(text: string, total: number): Document {
  return { body: Buffer.from(text), etag: toTag(text), total };
}

function toTag(text: string): string {
  return `"${hash('sha256', text, 'base64url').slice(0, ETAG_LENGTH)}"`;
}
