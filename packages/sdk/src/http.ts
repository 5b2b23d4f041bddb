import { type Clock, ServiceTime } from './clock.ts';
import { isPhdsError, PhdsError, toPhdsError } from './errors.ts';
import type { Pace } from './list.ts';

/** How requests are sent. */
interface HttpOptions {
  readonly baseUrl: string;
  readonly fetch: typeof globalThis.fetch;
  readonly clock: Clock;
  /** At least 0 and less than 1, like `Math.random`. */
  readonly random: () => number;
  /** The longest wait for one answer. */
  readonly timeoutMs: number;
  /** How long after the first attempt another one may begin. */
  readonly retryBudgetMs: number;
}

/** What a caller may choose for one call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * Instead of the client's; 0 never repeats. A renewal of tokens, which other calls share, has the client's budget: `signal` bounds the
   * wait for it.
   */
  readonly retryBudgetMs?: number | undefined;
}

/** Query or form parameters; those that are undefined are left out. */
export type Values = Readonly<Record<string, string | number | boolean | Date | undefined>>;

/** One attempt to send a request. */
export interface Attempt {
  readonly method: string;
  readonly url: URL;
  /** The time of the service, in seconds since 1970. */
  readonly seconds: number;
}

/** What is signed for one attempt. */
export interface Signed {
  /** Added to the form. */
  readonly form?: Values;
  /** A DPoP proof. */
  readonly proof?: string | undefined;
}

/**
 * One request. Every request of the SDK may be repeated: a repeat has no further effect, or only one that nobody notices. The exchange of
 * a code included: if the service has carried out a request whose answer was lost, the repeat fails and revokes the tokens of that
 * answer, which nobody has received. Without the repeat, every exchange without an answer would need another approval.
 */
export interface HttpRequest extends CallOptions {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Values;
  /** Sent as a form. */
  readonly form?: Values;
  readonly authorization?: string;
  /** Called for each attempt, because the service accepts a proof or an assertion once. */
  readonly sign?: (attempt: Attempt) => Promise<Signed>;
  /** Instead of the client's, if that is longer. */
  readonly timeoutMs?: number;
  /** Of the read of many pages that the request belongs to. */
  readonly pace?: Pace | undefined;
}

const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;

/** Sends requests, and repeats those that may succeed later. */
export class Http {
  readonly #options: HttpOptions;
  readonly #time: ServiceTime;

  constructor(options: HttpOptions) {
    this.#options = options;
    this.#time = new ServiceTime(options.clock);
  }

  /**
   * The JSON of a successful answer. Repeats a request without an answer, with 429 and with 5xx: after `Retry-After`, else with
   * exponential backoff, both with jitter. When the next wait would exceed the budget, the last error is thrown. A paced request without
   * a budget of its own waits for `Retry-After` of a 429 however long it is: that is no failure, and the budget is for failures.
   */
  async send(request: HttpRequest): Promise<unknown> {
    const { clock, retryBudgetMs } = this.#options;
    if (request.pace !== undefined) await this.#wait(request.pace.pauseMs(clock.now()), request);
    let endsAt = clock.now() + (request.retryBudgetMs ?? retryBudgetMs);
    for (let repeats = 0; ; repeats += 1) {
      try {
        return await this.#attempt(request);
      } catch (error) {
        if (!isPhdsError(error) || !mayPass(error)) throw error;
        const waitMs = this.#waitMs(error, repeats);
        if (waitsAsTold(request, error)) endsAt += waitMs;
        if (clock.now() + waitMs > endsAt) throw error;
        await this.#wait(waitMs, request);
      }
    }
  }

  async #wait(milliseconds: number, { pace, signal }: HttpRequest): Promise<void> {
    if (milliseconds <= 0) return;
    pace?.onWait?.(milliseconds);
    await this.#options.clock.sleep(milliseconds, signal);
  }

  /** One attempt, and another when the service refused what was signed with a wrong time. */
  async #attempt(request: HttpRequest, isSecond = false): Promise<unknown> {
    const signedAt = this.#time.now();
    const { status, headers, text } = await this.#fetch(request, signedAt);
    const body = findJson(text);
    const wasWrong = this.#time.note(headers, signedAt);
    if (status < 200 || status > 299) {
      const error = toPhdsError(status, headers, body);
      const isRefused = isPhdsError(error, 'UNAUTHORIZED', 'INVALID_DPOP_PROOF');
      if (request.sign === undefined || !isRefused || !wasWrong || isSecond) throw error;
      return this.#attempt(request, true);
    }
    if (body !== undefined) return body;
    throw new PhdsError('UNEXPECTED_ANSWER', `The answer with status ${status} is not JSON.`, { status });
  }

  async #fetch(request: HttpRequest, now: number) {
    const { method, path, authorization, signal, pace } = request;
    const { baseUrl, fetch, clock } = this.#options;
    const timeoutMs = Math.min(this.#options.timeoutMs, request.timeoutMs ?? Number.POSITIVE_INFINITY);
    const url = toUrl(baseUrl, request);
    const signed = await request.sign?.({ method, url, seconds: Math.floor(now / 1_000) });
    const form = signed?.form === undefined ? request.form : { ...request.form, ...signed.form };
    signal?.throwIfAborted();
    const timeout = AbortSignal.timeout(timeoutMs);
    const headers = new Headers({ Accept: 'application/json' });
    if (path.startsWith('/api/')) headers.set('API-Version', '1');
    if (authorization !== undefined) headers.set('Authorization', authorization);
    if (signed?.proof !== undefined) headers.set('DPoP', signed.proof);
    try {
      const response = await fetch(url, {
        method,
        headers,
        redirect: 'manual',
        signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
        ...(form === undefined ? {} : { body: toParameters(form) }),
      });
      pace?.note(response.headers, clock.now());
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (cause) {
      signal?.throwIfAborted();
      const what = timeout.aborted ? `within ${timeoutMs} ms` : `(${(cause as Error).message})`;
      throw new PhdsError('CONNECTION_FAILED', `No answer to ${method} ${path} ${what}.`, { cause });
    }
  }

  /** The jitter keeps clients that failed together from returning together. */
  #waitMs({ retryAfterSeconds }: PhdsError, repeats: number): number {
    const { random } = this.#options;
    if (retryAfterSeconds !== null) return retryAfterSeconds * 1_000 + random() * FIRST_DELAY_MS;
    const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** repeats);
    return (longest / 2) * (1 + random());
  }
}

/** Below the base address only: the request carries a token. */
function toUrl(baseUrl: string, { path, query }: HttpRequest): URL {
  const url = path.startsWith('/') ? new URL(baseUrl + path) : null;
  if (!url?.href.startsWith(`${baseUrl}/`)) {
    throw new PhdsError(
      'INVALID_REQUEST',
      `The path ${path} does not begin with / or leads out of ${baseUrl}.`,
    );
  }
  for (const [name, value] of toParameters(query)) url.searchParams.append(name, value);
  return url;
}

function waitsAsTold({ pace, retryBudgetMs }: HttpRequest, error: PhdsError): boolean {
  const told = error.code === 'RATE_LIMITED' && error.retryAfterSeconds !== null;
  return told && pace !== undefined && retryBudgetMs === undefined;
}

function mayPass({ code, status }: PhdsError): boolean {
  return (
    code === 'CONNECTION_FAILED' || status === 408 || status === 429 || (status !== null && status >= 500)
  );
}

export function toParameters(values: Values = {}): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) {
    if (value !== undefined)
      parameters.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return parameters;
}

function findJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
