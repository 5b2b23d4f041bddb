/** The default `page`. */
export const PAGE_DEFAULT = 1;

/** The default `pageSize`. */
export const PAGE_SIZE_DEFAULT = 20;

/** The maximum `pageSize`; a larger one is clamped. */
export const PAGE_SIZE_MAX = 100;

/** Most items of a list that grows with the users of an app: further ones are neither counted nor skipped, but reached with `before`. */
export const LONGEST_LIST = 10_000;

/** A page that ends at this item or before it is a newest page. Newest pages share statements, because each reads and skips few rows. */
export const NEWEST_ITEMS = 200;

/** Which page of a list; both numbers are at least 1. */
export interface Page {
  readonly page: number;
  readonly pageSize: number;
}

/** One page of a list, and how many items all pages have together. */
export interface Listed<Item> {
  readonly items: readonly Item[];
  readonly total: number;
}

/** The page that an rpc asks for: zero, or no request, means the default; a larger page than the largest is clamped. */
export function toPage(request: Partial<Page> | undefined): Page {
  return {
    page: request?.page || PAGE_DEFAULT,
    pageSize: Math.min(request?.pageSize || PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX),
  };
}

/** How many items come before the page. */
export function offsetOf({ page, pageSize }: Page): number {
  return (page - 1) * pageSize;
}

/** Whether it is a newest page, if nothing else limits the list. */
export function isAmongNewest({ page, pageSize }: Page): boolean {
  return page * pageSize <= NEWEST_ITEMS;
}

/** The `pagination` member of every list envelope. */
export interface Pagination extends Page {
  /** Number of items on all pages. */
  readonly total: number;
  /** 0 when there are no items. */
  readonly totalPages: number;
}

/** The pagination of a response. `page` may be beyond the end; it is returned as requested, with the true total. */
export function toPagination(list: Page & { readonly total: number }): Pagination {
  const { page, pageSize, total } = list;
  return { page, pageSize, total, totalPages: Math.ceil(total / pageSize) };
}
