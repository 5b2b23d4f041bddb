import { invalidRequest } from '@phds/service-kit/errors';

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

/** Parses `application/x-www-form-urlencoded` text. Throws `invalid_request` naming the parameter with a bad percent escape. */
export function parseQuery(raw: string): Query {
  if (raw === '') return EMPTY;
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  for (const [name, value] of parsePairs(raw)) {
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
