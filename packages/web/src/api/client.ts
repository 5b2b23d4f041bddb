import type { components, paths } from '@phds/sdk/openapi';
import createClient from 'openapi-fetch';
import { text } from '../texts/frame.ts';
import { Problem, toProblem } from './problem.ts';
import { noteRefusal } from './sign-in.ts';

/** The response of every list endpoint. */
export interface Page<Item> {
  readonly data: readonly Item[];
  readonly pagination: components['schemas']['Pagination'];
}

/** Time limit of a request. The service itself answers or gives up much earlier. */
const TIME_LIMIT_MS = 20_000;

/** The endpoints of this origin, with the session cookie. `answerOf` and `dataOf` take what its methods return. */
export const api = createClient<paths>({
  headers: { Accept: 'application/json' },
  credentials: 'same-origin',
  querySerializer: (query) => toQuery(query as Parameters).toString(),
  fetch: exchange,
});

/** Throws Problem for every answer but a JSON object or an empty one (204). */
async function exchange(request: Request): Promise<Response> {
  const { response, body } = await fetchInTime(request);
  noteServiceTime(response.headers.get('Date'));
  const answer = parseObject(body);
  if (!response.ok) {
    const problem = toProblem(response.status, answer);
    noteRefusal(request.method, new URL(request.url).pathname, problem);
    throw problem;
  }
  if (answer === null && response.status !== 204) throw unreadable(response.status);
  return new Response(answer === null ? null : body, response);
}

async function fetchInTime(request: Request): Promise<{ response: Response; body: string }> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), TIME_LIMIT_MS);
  try {
    // Overrides the page's policy `no-referrer`, so that the service can see that one of its own pages sent the request.
    const response = await fetch(request, { signal: limit.signal, referrerPolicy: 'same-origin' });
    return { response, body: await response.text() };
  } catch {
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

/** The path parameters of what has an id. */
export const ofId = (id: string) => ({ params: { path: { id } } });

/** The path parameters of what belongs to an app. */
export const ofApp = (clientId: string) => ({ params: { path: { clientId } } });

type Call<Body> = Promise<{ readonly data?: Body }>;

/** The body of an answer. Throws Problem. */
export async function answerOf<Body>(call: Call<Body>): Promise<Body> {
  // `exchange` has thrown for every other answer. It is undefined for 204 only.
  return (await call).data as Body;
}

/** The `data` of an answer. Throws Problem. */
export async function dataOf<Data>(call: Call<{ readonly data: Data }>): Promise<Data> {
  return (await answerOf(call)).data;
}

const LARGEST_PAGE = 100;

/** All items of a list that is bounded by its parameters. `read` asks for one page. Throws Problem. */
export async function getAll<Item>(
  read: (page: { readonly page: number; readonly pageSize: number }) => Call<Page<Item>>,
): Promise<Item[]> {
  const items: Item[] = [];
  for (let page = 1, pages = 1; page <= pages; page += 1) {
    const answer = await answerOf(read({ page, pageSize: LARGEST_PAGE }));
    pages = answer.pagination.totalPages;
    items.push(...answer.data);
  }
  return items;
}

type Parameters = Readonly<Record<string, string | number | undefined>>;

/** A query of the parameters with a value. */
export function toQuery(parameters: Parameters): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  return query;
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
