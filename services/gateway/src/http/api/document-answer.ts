import type { ServerResponse } from 'node:http';
import type { ReadResponse } from '@phds/contracts/phds/healthdata/v1/health_data_pb';

interface DocumentAnswer {
  readonly document: ReadResponse;
  /** JSON if absent. */
  readonly type?: string;
  /** The page of a list, for `Link`; null for a single object. */
  readonly links: {
    readonly path: string;
    readonly query: string;
    readonly page: number;
    readonly pageSize: number;
  } | null;
  readonly headers: Readonly<Record<string, string>>;
  readonly ifNoneMatch: string | undefined;
}

/** Sends a finished document unchanged, or 304 if the client has it. */
export function sendDocument(response: ServerResponse, answer: DocumentAnswer): void {
  const { document, type = 'application/json; charset=utf-8', links, headers, ifNoneMatch } = answer;
  const { body, etag, total, nextCursor } = document;
  const fields: Record<string, string | number> = {
    ...headers,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ETag: etag,
  };
  if (links !== null) {
    fields['Link'] = nextCursor === '' ? toPageLinks({ ...links, total }) : toCursorLink(links, nextCursor);
  }
  if (ifNoneMatch !== undefined && matchesEntityTag(ifNoneMatch, etag)) {
    response.writeHead(304, fields);
    response.end();
    return;
  }
  fields['Content-Type'] = type;
  fields['Content-Length'] = body.length;
  response.writeHead(200, fields);
  response.end(body);
}

const TAG = /(?:W\/)?("[^"]*")/g;

/** Whether an `If-None-Match` value names this entity tag: weak comparison, a list, or `*` (RFC 9110 13.1.2). */
export function matchesEntityTag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag || ifNoneMatch.trim() === '*') return true;
  const opaque = etag.startsWith('W/') ? etag.slice(2) : etag;
  for (const [, tag] of ifNoneMatch.matchAll(TAG)) if (tag === opaque) return true;
  return false;
}

interface PageLinksInput {
  /** Path, and the query without `page`. */
  readonly path: string;
  readonly query: string;
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
}

/** The value of `Link` for changes: the same list behind the cursor. */
function toCursorLink({ path, query }: Pick<PageLinksInput, 'path' | 'query'>, cursor: string): string {
  return `<${path}?${query === '' ? '' : `${query}&`}updatedSince=${cursor}>; rel="next"`;
}

/** The value of `Link` for one page of a list (RFC 8288): first, prev, next and last, relative to the request. */
function toPageLinks({ path, query, page, pageSize, total }: PageLinksInput): string {
  const last = Math.max(1, Math.ceil(total / pageSize));
  const base = query === '' ? `<${path}?page=` : `<${path}?${query}&page=`;
  let links = `${base}1>; rel="first"`;
  if (page > 1) links += `, ${base}${Math.min(page - 1, last)}>; rel="prev"`;
  if (page < last) links += `, ${base}${page + 1}>; rel="next"`;
  return `${links}, ${base}${last}>; rel="last"`;
}
