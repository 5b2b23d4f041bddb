import { type Client, type ClientOptions, createClient } from '../src/client.ts';
import type { Clock } from '../src/clock.ts';
import { memoryTokenStore, type TokenSet, type TokenStore } from '../src/token-store.ts';

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
class ScriptedService {
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

interface MadeClient {
  readonly client: Client;
  readonly service: ScriptedService;
  readonly clock: SleepingClock;
  readonly store: TokenStore;
}

interface Made {
  readonly store?: TokenStore;
  readonly options?: Partial<ClientOptions>;
}

/** A client without jitter in front of a scripted service. */
export function makeClient(
  reply: (sent: Sent, index: number) => Reply | Promise<Reply>,
  { store = memoryTokenStore(), options = {} }: Made = {},
): MadeClient {
  const service = new ScriptedService(reply);
  const clock = new SleepingClock();
  const client = createClient({
    baseUrl: 'https://health.example/',
    clientId: 'app_1',
    clientSecret: 'phds_cs_1',
    redirectUri: 'https://app.example/callback',
    fetch: service.fetch,
    random: () => 0,
    clock,
    store,
    ...options,
  });
  return { client, service, clock, store };
}

/** Tokens that live for an hour. */
export function tokens(number: number, issuedAt: number): TokenSet {
  return {
    grantId: 'grt_1',
    sub: 'sub_1',
    accessToken: `phds_at_${number}`,
    tokenType: 'Bearer',
    refreshToken: `phds_rt_${number}`,
    scopes: ['read:profile'],
    issuedAt,
    expiresAt: issuedAt + 3_600_000,
  };
}

/** The token endpoint's answer with the tokens of this number. */
export function tokenAnswer(number: number) {
  return {
    access_token: `phds_at_${number}`,
    refresh_token: `phds_rt_${number}`,
    token_type: 'Bearer',
    expires_in: 3_600,
    scope: 'read:profile',
    grant_id: 'grt_1',
    sub: 'sub_1',
  };
}
