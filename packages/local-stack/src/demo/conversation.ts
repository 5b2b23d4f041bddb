import { STATUS_CODES } from 'node:http';
import { isPhdsError } from '@phds/sdk';

/** One request of the demo that is not the app's. */
export interface DemoRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Access token or session. */
  readonly bearer?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The response required by the contract. */
  readonly expect: { readonly status: number; readonly code?: string };
}

/** The response body as JSON; null when it is not JSON. */
export type Answer = Readonly<Record<string, unknown>>;

/** Sends requests to the service and prints every request and response. */
export interface Conversation {
  /** Prints the title of the next step. */
  step(title: string): void;
  send(request: DemoRequest): Promise<Answer>;
  /** The `fetch` of the app. */
  readonly fetch: typeof globalThis.fetch;
  /** Whether the app's requests are printed as one line instead of the whole response. */
  brief: boolean;
  /** Makes a call of the app, and checks that it fails with this code, or succeeds if there is none. Null when it fails. */
  call<Result>(what: string, code: string | null, call: () => Promise<Result>): Promise<Result | null>;
  /** Descriptions of responses that differ from the contract. */
  readonly surprises: readonly string[];
}

const BRIEF_LENGTH = 170;
const INDENT = '    ';

/** Opens a conversation that prints through `say`, line by line. */
export function openConversation(say: (text: string) => void): Conversation {
  return new PrintedConversation(say);
}

class PrintedConversation implements Conversation {
  readonly surprises: string[] = [];
  brief = false;
  readonly #say: (text: string) => void;
  #steps = 0;

  constructor(say: (text: string) => void) {
    this.#say = say;
  }

  step(title: string): void {
    this.#steps += 1;
    this.#say(`\n${this.#steps}. ${title}`);
  }

  readonly fetch: typeof globalThis.fetch = async (input, init = {}) => {
    this.#say(renderRequest(String(input), init, this.brief));
    const response = await fetch(input, init);
    this.#say(renderAnswer(response, await readAnswer(response.clone()), this.brief));
    return response;
  };

  async send({ method, url, bearer, body, expect }: DemoRequest): Promise<Answer> {
    const headers = new Headers();
    if (bearer !== undefined) headers.set('Authorization', `Bearer ${bearer}`);
    if (body !== undefined) headers.set('Content-Type', 'application/json');
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const response = await this.fetch(url, init);
    const answer = await readAnswer(response);
    const code = typeof answer['code'] === 'string' ? answer['code'] : null;
    const isExpected =
      response.status === expect.status && (expect.code === undefined || expect.code === code);
    const wanted = `${expect.status} ${expect.code ?? ''}`.trimEnd();
    if (!isExpected)
      this.#surprise(`${method} ${url}: expected ${wanted}, got ${response.status} ${code ?? ''}`);
    return answer;
  }

  async call<Result>(what: string, code: string | null, call: () => Promise<Result>): Promise<Result | null> {
    try {
      const result = await call();
      if (code !== null) this.#surprise(`${what}: expected ${code}, and it succeeded`);
      return result;
    } catch (error) {
      if (!isPhdsError(error)) throw error;
      if (error.code !== code) this.#surprise(`${what}: expected ${code ?? 'success'}, got ${error.code}`);
      return null;
    }
  }

  #surprise(text: string): void {
    this.surprises.push(text);
    this.#say(`${INDENT}!! ${text}`);
  }
}

async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return { text };
  }
}

function renderRequest(url: string, { method = 'GET', headers, body }: RequestInit, brief: boolean): string {
  const lines = [`${INDENT}${method} ${url}`];
  if (brief) return lines.join('\n');
  const authorization = new Headers(headers).get('Authorization');
  if (authorization !== null) lines.push(`Authorization: ${shortenSecrets(showBasic(authorization))}`);
  if (typeof body === 'string') lines.push(shortenBody(JSON.parse(body), undefined));
  if (body instanceof URLSearchParams) lines.push(shortenSecrets(decodeURIComponent(body.toString())));
  return lines.join(`\n${INDENT}  `);
}

/** Basic credentials are shown decoded, so that the secret in them can be shortened. */
function showBasic(authorization: string): string {
  return authorization.replace(/^Basic (.*)/, (_, encoded: string) => `Basic base64(${atob(encoded)})`);
}

function renderAnswer(response: Response, answer: Answer, brief: boolean): string {
  const status = `${INDENT}  -> ${response.status} ${STATUS_CODES[response.status] ?? ''}`;
  if (brief) return toLine(`${status}${summarise(answer)}  ${shortenBody(answer, undefined)}`, BRIEF_LENGTH);
  const body = shortenBody(answer, 2).replaceAll('\n', `\n${INDENT}     `);
  return `${status}\n${INDENT}     ${body}`;
}

/** The most important part of a response that is not printed completely. */
function summarise(answer: Answer): string {
  const { data, pagination, code, requiredScope } = answer;
  const total = (pagination as { total?: unknown } | undefined)?.total;
  if (Array.isArray(data) && total !== undefined) return `, ${data.length} of ${total}`;
  return code === undefined ? '' : `, ${code}${requiredScope === undefined ? '' : `: ${requiredScope}`}`;
}

/** Matches a secret of ours or a JWT anywhere in a text; group 1 is the part to keep. */
const SECRET = /\b(phds_(?:cs|ac|at|rt)_[0-9A-Za-z]{4}|eyJ[\w-]{9})[\w.-]+/g;

const SHOWN_ITEMS = 2;

/** Shortens every secret in a text to its beginning. */
export function shortenSecrets(text: string): string {
  return text.replaceAll(SECRET, '$1…');
}

/** Formats a body for people: long lists and secrets are shortened. */
export function shortenBody(body: unknown, indent: number | undefined): string {
  return shortenSecrets(JSON.stringify(cutLists(body), null, indent) ?? '');
}

/** Formats a text as one line with at most `length` characters. */
export function toLine(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1)}…`;
}

function cutLists(value: unknown): unknown {
  if (Array.isArray(value)) {
    const more = value.length - SHOWN_ITEMS;
    // Lists of plain strings, such as scopes, are shown whole.
    if (more <= 1 || value.every((item) => typeof item === 'string')) return value.map(cutLists);
    return [...value.slice(0, SHOWN_ITEMS).map(cutLists), `… ${more} more`];
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, cutLists(each)]));
}
