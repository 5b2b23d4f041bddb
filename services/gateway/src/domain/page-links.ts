export interface PageLinksInput {
  /** Path, and the query without `page`. */
  readonly path: string;
  readonly query: string;
  readonly page: number;
  readonly pageSize: number;
  readonly total: number;
}

/** The value of `Link` for changes: the same list behind the cursor. */
export function toCursorLink(
  { path, query }: Pick<PageLinksInput, 'path' | 'query'>,
  cursor: string,
): string {
  return `<${path}?${query === '' ? '' : `${query}&`}updatedSince=${cursor}>; rel="next"`;
}

/** The value of `Link` for one page of a list (RFC 8288): first, prev, next and last, relative to the request. */
export function toPageLinks({ path, query, page, pageSize, total }: PageLinksInput): string {
  const last = Math.max(1, Math.ceil(total / pageSize));
  const base = query === '' ? `<${path}?page=` : `<${path}?${query}&page=`;
  let links = `${base}1>; rel="first"`;
  if (page > 1) links += `, ${base}${Math.min(page - 1, last)}>; rel="prev"`;
  if (page < last) links += `, ${base}${page + 1}>; rel="next"`;
  return `${links}, ${base}${last}>; rel="last"`;
}
