import { toPagination } from '@phds/catalog/pagination';
import { readPage } from './page-parameters.ts';
import { parseQuery, splitUrl } from './query.ts';
import { Violations } from './violations.ts';

/** One page of a list as it was asked for. */
export interface Page {
  readonly page: number;
  readonly pageSize: number;
}

/** A query with its strangers and repetitions found out; the caller reads its own parameters and then calls `check`. */
export interface ListQuery {
  readonly page: Page;
  find(name: string): string | undefined;
  /** Reports a parameter that is at fault. */
  fault(name: string, message: string): void;
  /** Throws `invalid_request` naming every parameter at fault. */
  check(): void;
}

/** Reads the query of a list endpoint: `page`, `pageSize` and the filters named. Throws at a bad percent escape. */
export function readListQuery(url: string, filters: readonly string[] = []): ListQuery {
  return readQuery(url, ['page', 'pageSize', ...filters]);
}

/** Reads the query of any other endpoint: the parameters named and no others. */
export function readQuery(url: string, known: readonly string[]): ListQuery {
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

/** A filter that is one of a closed set; undefined where it is not given. */
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

/** The list envelope (interface.md 2.1). */
export function toList<T>(data: readonly T[], { page, pageSize }: Page, total: number) {
  return { data, pagination: toPagination({ page, pageSize, total }) };
}
