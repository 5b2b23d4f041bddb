import { Problem, toProblem } from './problem.ts';

/** A list as every list endpoint answers it. */
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

/** Asks for a resource of this origin, with the session cookie. Throws Problem. */
export function get<Answer>(
  path: string,
  parameters: Parameters = {},
  headers?: HeadersInit,
): Promise<Answer> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const suffix = query.size === 0 ? '' : `?${query}`;
  return exchange(path + suffix, headers === undefined ? {} : { headers });
}

const LARGEST_PAGE = 100;

/** All items of a list, whose length its parameters bound. Throws Problem. */
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
  method: 'POST' | 'PATCH' | 'DELETE',
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

async function exchange<Answer>(path: string, init: RequestInit): Promise<Answer> {
  const headers = { Accept: 'application/json', ...init.headers };
  const response = await fetch(path, { ...init, headers, credentials: 'same-origin' }).catch(() => {
    throw new Problem(
      'UNREACHABLE',
      0,
      'The service cannot be reached. Check your connection and try again.',
    );
  });
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) throw toProblem(response.status, body);
  return body as Answer;
}
