import { text } from '../texts/frame.ts';
import { Problem, toProblem } from './problem.ts';
import { noteRefusal } from './sign-in.ts';

/** The response of every list endpoint. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: {
    readonly page: number;
    readonly pageSize: number;
    readonly total: number;
    readonly totalPages: number;
  };
}

export interface Data<Item> {
  readonly data: Item;
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

/** Fetches a resource of this origin with the session cookie. Throws Problem. */
export function get<Answer>(
  path: string,
  parameters: Parameters = {},
  headers?: HeadersInit,
): Promise<Answer> {
  return exchange(toPath(path, parameters), headers === undefined ? {} : { headers });
}

/** A path with a query of the defined parameters. */
export function toPath(path: string, parameters: Parameters): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query.size === 0 ? path : `${path}?${query}`;
}

const LARGEST_PAGE = 100;

/** All items of a list that is bounded by its parameters. Throws Problem. */
export async function getAll<Item>(path: string, parameters: Parameters = {}): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const answer = await get<Page<Item>>(path, { ...parameters, page, pageSize: LARGEST_PAGE });
    pages = answer.pagination.totalPages;
    items.push(...answer.data);
  }
  return items;
}

/** Sends a change. Throws Problem. */
export function send<Answer>(
  method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
): Promise<Answer> {
  if (body === undefined) return exchange(path, { method });
  return exchange(path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** The service's clock minus the browser's, by the latest response. */
let clockDifferenceMs = 0;

/** The present time by the service's clock (Unix milliseconds). The browser's may be minutes off. */
export function serviceNow(): number {
  return Date.now() + clockDifferenceMs;
}

function noteServiceTime(date: string | null): void {
  const time = Date.parse(date ?? '');
  if (!Number.isNaN(time)) clockDifferenceMs = time - Date.now();
}

/** Time limit of a request. The service itself answers or gives up much earlier. */
const TIME_LIMIT_MS = 20_000;

async function exchange<Answer>(path: string, init: RequestInit): Promise<Answer> {
  const headers = { Accept: 'application/json', ...init.headers };
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), TIME_LIMIT_MS);
  try {
    const response = await fetch(path, {
      ...init,
      headers,
      credentials: 'same-origin',
      // Overrides the page's policy `no-referrer`, so that the service can see that one of its own pages sent the request.
      referrerPolicy: 'same-origin',
      signal: limit.signal,
    });
    noteServiceTime(response.headers.get('Date'));
    const body = parseObject(await response.text());
    if (!response.ok) {
      const problem = toProblem(response.status, body);
      noteRefusal(init.method ?? 'GET', path, problem);
      throw problem;
    }
    if (body === null && response.status !== 204) throw unreadable(response.status);
    return body as Answer;
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw limit.signal.aborted ? tooSlow() : unreachable();
  } finally {
    clearTimeout(timer);
  }
}

/** Parses a JSON object; null for any other text. */
function parseObject(body: string): object | null {
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

function unreachable(): Problem {
  return new Problem('UNREACHABLE', 0, text('unreachable'));
}

function tooSlow(): Problem {
  return new Problem('TIMED_OUT', 0, text('timedOut', { seconds: TIME_LIMIT_MS / 1000 }));
}

/** For example the login page of a public network. */
function unreadable(status: number): Problem {
  return new Problem('UNREADABLE', status, text('unreadable'));
}
