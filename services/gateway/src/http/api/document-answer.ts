import type { ServerResponse } from 'node:http';
import type { ReadResponse } from '@phds/contracts/phds/healthdata/v1/health_data_pb';
import { matchesEntityTag } from '../../domain/entity-tag.ts';
import { toCursorLink, toPageLinks } from '../../domain/page-links.ts';

export interface DocumentAnswer {
  readonly document: ReadResponse;
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
  const { document, links, headers, ifNoneMatch } = answer;
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
  fields['Content-Type'] = 'application/json; charset=utf-8';
  fields['Content-Length'] = body.length;
  response.writeHead(200, fields);
  response.end(body);
}
