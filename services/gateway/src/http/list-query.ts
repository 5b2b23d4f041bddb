import { toPagination } from '@phds/catalog/pagination';
import { type Fields, PAGE_QUERY } from './openapi/fields.ts';
import { readPage } from './page-parameters.ts';
import { parseQuery, splitUrl } from './query.ts';
import { Violations } from './violations.ts';

/** The requested page of a list. */
export interface Page {
  readonly page: number;
  readonly pageSize: number;
}

/** A query whose unknown and repeated parameters have been reported. The caller reads its own parameters, then calls `check`. */
export interface ListQuery {
  readonly page: Page;
  find(name: string): string | undefined;
  /** Reports an invalid parameter. */
  fault(name: string, message: string): void;
  /** Throws `invalid_request` naming every invalid parameter. */
  check(): void;
}

/**
 * Reads the query of a list endpoint: `page`, `pageSize` and the filters, as in the endpoint's operation. Throws on a bad percent
 * escape.
 */
export function readListQuery(url: string, filters: Fields = {}): ListQuery {
  return readQuery(url, { ...PAGE_QUERY, ...filters });
}

/** Reads the query of any other endpoint. Only these parameters are allowed. The values are not checked here. */
export function readQuery(url: string, parameters: Fields): ListQuery {
  const known = Object.keys(parameters);
  const query = parseQuery(splitUrl(url).rawQuery);
  const violations = new Violations();
  for (const name of query.values.keys()) {
    if (!known.includes(name)) violations.addUnknown(name, known);
    else if (query.repeated.has(name)) violations.add(name, 'must be given once');
  }
  return {
    page: readPage(query, violations),
    find: (name) => query.values.get(name),
    fault: (name, message) => violations.add(name, message),
    check: () => violations.throwIfAny(),
  };
}

/** Reads a filter that takes one of a fixed set of values; undefined when absent. */
export function findChoice<T extends string>(
  query: ListQuery,
  name: string,
  choices: readonly T[],
): T | undefined {
  const text = query.find(name);
  if (text === undefined) return undefined;
  const choice = choices.find((value) => value === text);
  if (choice === undefined) query.fault(name, `must be one of ${choices.join(', ')}`);
  return choice;
}

/** The list envelope. */
export function toList<T>(data: readonly T[], { page, pageSize }: Page, total: number) {
  return { data, pagination: toPagination({ page, pageSize, total }) };
}
