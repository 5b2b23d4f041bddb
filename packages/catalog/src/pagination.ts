/** The `page` of a request that names none (interface.md 8). */
export const PAGE_DEFAULT = 1;

/** The `pageSize` of a request that names none (interface.md 8). */
export const PAGE_SIZE_DEFAULT = 20;

/** The largest page served; a larger `pageSize` is clamped to it (interface.md 8, contract section 6). */
export const PAGE_SIZE_MAX = 100;

/** The `pagination` member of every list envelope (interface.md 2.1). */
export interface Pagination {
  readonly page: number;
  readonly pageSize: number;
  /** Items on all pages together. */
  readonly total: number;
  /** 0 when there are no items. */
  readonly totalPages: number;
}

/** The pagination of an answer. `page` may lie beyond the end: it is told as asked, with the true total. */
export function toPagination(list: { page: number; pageSize: number; total: number }): Pagination {
  const { page, pageSize, total } = list;
  return { page, pageSize, total, totalPages: Math.ceil(total / pageSize) };
}
