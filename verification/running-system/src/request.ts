import { checkAnswer } from '@phds/test-kit/checked-answers';

/** An HTTP response. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The body, byte for byte. */
  readonly text: string;
  /** The body as JSON; undefined when it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read answers of every shape, and expect() judges them
  readonly body: any;
}

export interface RequestOptions {
  readonly method?: string;
  /** Access token or session. */
  readonly bearer?: string | undefined;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent as a form. */
  readonly form?: Readonly<Record<string, string>>;
  /** A body to send unchanged; its Content-Type goes into the headers. */
  readonly raw?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Sends one request without following redirects. With a body, the default method is POST. Throws if the gateway's answer is not as its
 * OpenAPI document says.
 */
export async function send(url: string | URL, options: RequestOptions = {}): Promise<Answer> {
  const body = toBody(options);
  const headers = new Headers(options.headers);
  if (options.bearer !== undefined) headers.set('Authorization', `Bearer ${options.bearer}`);
  if (options.json !== undefined) headers.set('Content-Type', 'application/json');
  const method = options.method ?? (body === undefined ? 'GET' : 'POST');
  const init = { method, headers, redirect: 'manual' as const };
  const response = await fetch(url, body === undefined ? init : { ...init, body });
  const text = await response.text();
  const { status, headers: fields } = response;
  await checkAnswer({ method, url: new URL(url), status, headers: fields, text });
  return { status, headers: fields, text, body: findJson(text) };
}

/** The `Authorization` value for HTTP Basic with form-encoded credentials (RFC 6749 2.3.1). */
export function toBasic(clientId: string, clientSecret: string): string {
  const pair = [clientId, clientSecret].map(encodeURIComponent).join(':');
  return `Basic ${Buffer.from(pair).toString('base64')}`;
}

function toBody({ json, form, raw }: RequestOptions): string | URLSearchParams | undefined {
  if (json !== undefined) return JSON.stringify(json);
  return form === undefined ? raw : new URLSearchParams(form);
}

function findJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
