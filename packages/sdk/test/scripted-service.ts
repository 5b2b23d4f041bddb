import type { Clock } from '../src/clock.ts';

/** What was sent. */
export interface Sent {
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  readonly form: URLSearchParams;
}

/** An answer, or an error that `fetch` throws. */
export type Reply = Response | Error;

/** A `fetch` that answers by a function, and remembers the requests. */
export class ScriptedService {
  readonly sent: Sent[] = [];
  readonly fetch: typeof globalThis.fetch;

  constructor(reply: (sent: Sent, index: number) => Reply | Promise<Reply>) {
    this.fetch = async (input, init) => {
      init?.signal?.throwIfAborted();
      const request = new Request(input, init);
      const sent = {
        method: request.method,
        url: new URL(request.url),
        headers: request.headers,
        form: new URLSearchParams(request.body === null ? '' : await request.text()),
      };
      this.sent.push(sent);
      const answer = await reply(sent, this.sent.length - 1);
      if (answer instanceof Error) throw answer;
      return answer;
    };
  }

  /** The requests as `METHOD /path`. */
  get lines(): string[] {
    return this.sent.map(({ method, url }) => `${method} ${url.pathname}`);
  }
}

export function json(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): Response {
  return new Response(JSON.stringify(body), { status, headers });
}

export function problem(
  status: number,
  code: string,
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
): Response {
  return json(
    status,
    { type: '/problems/x', title: code, status, code, detail: `About ${code}.`, ...more },
    headers,
  );
}

export const lostConnection = () => new TypeError('fetch failed');

/** A clock that stands still, except that every sleep moves it. */
export class SleepingClock implements Clock {
  time = Date.parse('2026-03-01T12:00:00Z');
  readonly slept: number[] = [];

  now(): number {
    return this.time;
  }

  async sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    this.slept.push(milliseconds);
    this.time += milliseconds;
  }
}
