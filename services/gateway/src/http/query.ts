import { findTimeBound, isDate, type TimeBound } from '@phds/catalog/instants';
import { PAGE_DEFAULT, PAGE_SIZE_DEFAULT, PAGE_SIZE_MAX, toPagination } from '@phds/catalog/pagination';
import { findTimeZone, NO_TIME_ZONE } from '@phds/catalog/time-zones';
import { type AppError, invalidRequest, MAX_VIOLATIONS, type Violation } from '@phds/service-kit/errors';
import { date, type Fields } from './openapi/fields.ts';
import { findSuggestion } from './suggestion.ts';

/** A parsed query string. */
export interface Query {
  /** The first value of each name. */
  readonly values: ReadonlyMap<string, string>;
  /** Names that occur more than once. */
  readonly repeated: ReadonlySet<string>;
}

const EMPTY: Query = { values: new Map(), repeated: new Set() };

/** Splits a URL at its `?`. */
export function splitUrl(url: string): { path: string; rawQuery: string } {
  const mark = url.indexOf('?');
  return mark === -1
    ? { path: url, rawQuery: '' }
    : { path: url.slice(0, mark), rawQuery: url.slice(mark + 1) };
}

/** Whether the path of a URL is `prefix` or is below it. */
export function isUnder(prefix: string, url: string): boolean {
  if (!url.startsWith(prefix)) return false;
  const next = url[prefix.length];
  return next === undefined || next === '/' || next === '?';
}

/** Parses `application/x-www-form-urlencoded` text. Throws `invalid_request` naming the parameter with a bad percent escape. */
export function parseQuery(raw: string): Query {
  return raw === '' ? EMPTY : toQuery(parsePairs(raw));
}

function toQuery(pairs: readonly (readonly [name: string, value: string])[]): Query {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, value] of pairs) {
    if (values.has(name)) repeated.add(name);
    else values.set(name, value);
  }
  return { values, repeated };
}

/** The name and value of every parameter, in order. Throws the same errors as `parseQuery`. */
export function parsePairs(raw: string): [name: string, value: string][] {
  return raw
    .split('&')
    .filter((part) => part !== '')
    .map((part) => {
      const mark = part.indexOf('=');
      const rawName = mark === -1 ? part : part.slice(0, mark);
      const name = decode(rawName, 'query');
      return [name, mark === -1 ? '' : decode(part.slice(mark + 1), name)];
    });
}

/** Decodes form-encoded text. Throws `invalid_request` that names `parameter`. */
export function decode(text: string, parameter: string): string {
  if (!text.includes('%') && !text.includes('+')) return text;
  try {
    const decoded = decodeURIComponent(text.replaceAll('+', ' '));
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // Reported below.
  }
  throw invalidRequest(parameter, 'has a bad percent escape');
}

/** Suggestions are searched for this many unknown names only, because the search is expensive. */
const MAX_SUGGESTIONS = 5;

/** Collects the violations of one request, up to `MAX_VIOLATIONS`, so that one response reports them all. */
export class Violations {
  readonly #found: Violation[] = [];
  #unknown = 0;

  add(parameter: string, message: string): void {
    if (this.#found.length < MAX_VIOLATIONS) this.#found.push({ parameter, message });
  }

  /** Adds an unknown name, with a suggestion for the first few. */
  addUnknown(name: string, known: readonly string[], kind: 'parameter' | 'field' = 'parameter'): void {
    if (this.#found.length >= MAX_VIOLATIONS) return;
    this.#unknown += 1;
    const suggestion = this.#unknown > MAX_SUGGESTIONS ? null : findSuggestion(name, known);
    this.add(name, `unknown ${kind}${toHint(suggestion, known, kind)}`);
  }

  /** Throws `invalid_request` if anything was added. */
  throwIfAny(): void {
    if (this.#found.length > 0) throw this.toError();
  }

  /** The collected violations as an `invalid_request` error. */
  toError(): AppError {
    return invalidRequest(this.#found);
  }
}

function toHint(suggestion: string | null, known: readonly string[], kind: 'parameter' | 'field'): string {
  if (suggestion !== null) return `; did you mean "${suggestion}"?`;
  if (kind === 'field') return '';
  return `; this endpoint ${known.length === 0 ? 'takes none' : `takes ${known.join(', ')}`}`;
}

const DIGITS = /^\d+$/;
const LARGEST = 2_147_483_647;

/** Reads `page` and `pageSize`: whole numbers from 1; `pageSize` is clamped to its maximum. */
function readPage(values: Query['values'], violations: Violations): Page {
  return {
    page: readCount(values, 'page', PAGES, violations),
    pageSize: Math.min(readCount(values, 'pageSize', SIZES, violations), PAGE_SIZE_MAX),
  };
}

const PAGES = { fallback: PAGE_DEFAULT, max: LARGEST, range: `from 1 to ${LARGEST}` };
const SIZES = {
  fallback: PAGE_SIZE_DEFAULT,
  max: Number.POSITIVE_INFINITY,
  range: `from 1 to ${PAGE_SIZE_MAX}; more is taken as ${PAGE_SIZE_MAX}`,
};

function readCount(
  values: Query['values'],
  name: string,
  { fallback, max, range }: typeof PAGES,
  violations: Violations,
): number {
  const text = values.get(name);
  if (text === undefined) return fallback;
  const value = DIGITS.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= max) return value;
  violations.add(name, `must be a whole number ${range}`);
  return fallback;
}

/** The requested page of a list. */
interface Page {
  readonly page: number;
  readonly pageSize: number;
}

/** A query whose unknown and repeated parameters have been reported. The caller reads its own parameters, then calls `check`. */
export interface ListQuery {
  /** The known parameters that were given once. */
  readonly values: Query['values'];
  readonly page: Page;
  find(name: string): string | undefined;
  /** Reports an invalid parameter. */
  fault(name: string, message: string): void;
  /** Throws `invalid_request` naming every invalid parameter. */
  check(): void;
}

/** Reads the query of an operation: only its parameters are allowed. Throws on a bad percent escape; values are not checked here. */
export function readQuery(url: string, parameters: Fields): ListQuery {
  return toListQuery(parseQuery(splitUrl(url).rawQuery), Object.keys(parameters));
}

export function toListQuery({ values: given, repeated }: Query, known: readonly string[]): ListQuery {
  const violations = new Violations();
  const values = new Map<string, string>();
  for (const [name, value] of given) {
    if (!known.includes(name)) violations.addUnknown(name, known);
    else if (repeated.has(name)) violations.add(name, 'must be given once');
    else values.set(name, value);
  }
  return {
    values,
    page: readPage(values, violations),
    find: (name) => values.get(name),
    fault: (name, message) => violations.add(name, message),
    check: () => violations.throwIfAny(),
  };
}

/** Reads a bound of a window; null when absent. */
export function findBound(query: ListQuery, name: 'from' | 'to'): TimeBound | null {
  const text = query.find(name);
  if (text === undefined) return null;
  const bound = findTimeBound(text);
  if (bound === null)
    query.fault(name, 'must be a date (2026-03-01) or an RFC 3339 instant (2026-03-01T08:00:00Z)');
  return bound;
}

/** Reads `timeZone` in the spelling of the database; empty when absent. */
export function readTimeZone(query: ListQuery): string {
  const text = query.find('timeZone');
  if (text === undefined) return '';
  const timeZone = findTimeZone(text);
  if (timeZone === null) query.fault('timeZone', NO_TIME_ZONE);
  return timeZone ?? '';
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

/** The requested page of a list that was read whole. */
export function sliceOf<T>(items: readonly T[], { page, pageSize }: Page): T[] {
  return items.slice((page - 1) * pageSize, page * pageSize);
}

/** The list envelope. */
export function toList<T>(data: T[], { page, pageSize }: Page, total: number) {
  return { data, pagination: toPagination({ page, pageSize, total }) };
}

/** The parameters that `readDayRange` reads. */
export const DAY_RANGE_QUERY = {
  from: date.meta({ description: 'First day, inclusive.' }),
  to: date.meta({ description: 'Last day, inclusive.' }),
} as const;

/** Reads `from` and `to` (dates, both inclusive) of a list of days; empty when absent. Invalid values are reported to the query. */
export function readDayRange(query: ListQuery): { from: string; to: string } {
  const [from, to] = [readDate(query, 'from'), readDate(query, 'to')];
  if (from !== '' && to !== '' && from > to) query.fault('from', 'must not be after "to"');
  return { from, to };
}

function readDate(query: ListQuery, name: string): string {
  const text = query.find(name);
  if (text === undefined) return '';
  if (!isDate(text)) query.fault(name, 'must be a date (2026-03-01)');
  return text;
}
