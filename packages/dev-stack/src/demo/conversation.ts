import { STATUS_CODES } from 'node:http';
import { shortenBody, shortenSecrets, toLine } from './shorten.ts';

/** One request of the demo. */
export interface DemoRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Access token or session. */
  readonly bearer?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** The response required by the contract. */
  readonly expect: { readonly status: number; readonly code?: string };
  /** Whether to print one line instead of the whole response. */
  readonly brief?: boolean;
}

/** The response body as JSON; null when it is not JSON. */
export type Answer = Readonly<Record<string, unknown>>;

/** Sends requests to the service and prints every request and response. */
export interface Conversation {
  /** Prints the title of the next step. */
  step(title: string): void;
  send(request: DemoRequest): Promise<Answer>;
  /** Descriptions of responses that differ from the contract. */
  readonly surprises: readonly string[];
}

const BRIEF_LENGTH = 170;
const INDENT = '    ';

/** Opens a conversation that prints through `say`, line by line. */
export function openConversation(say: (text: string) => void): Conversation {
  const surprises: string[] = [];
  let steps = 0;
  return {
    surprises,
    step(title) {
      steps += 1;
      say(`\n${steps}. ${title}`);
    },
    async send(request) {
      say(renderRequest(request));
      const response = await fetch(request.url, toFetchOptions(request));
      const answer = await readAnswer(response);
      say(renderAnswer(request, response, answer));
      const surprise = findSurprise(request, response.status, answer);
      if (surprise !== null) {
        surprises.push(surprise);
        say(`${INDENT}!! ${surprise}`);
      }
      return answer;
    },
  };
}

function toFetchOptions({ method, bearer, body }: DemoRequest): RequestInit {
  const headers = new Headers();
  if (bearer !== undefined) headers.set('Authorization', `Bearer ${bearer}`);
  if (body !== undefined) headers.set('Content-Type', 'application/json');
  return { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
}

async function readAnswer(response: Response): Promise<Answer> {
  const text = await response.text();
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return { text };
  }
}

function renderRequest({ method, url, bearer, body, brief }: DemoRequest): string {
  const lines = [`${INDENT}${method} ${url}`];
  if (brief) return lines.join('\n');
  if (bearer !== undefined) lines.push(shortenSecrets(`Authorization: Bearer ${bearer}`));
  if (body !== undefined) lines.push(shortenBody(body, undefined));
  return lines.join(`\n${INDENT}  `);
}

function renderAnswer({ brief }: DemoRequest, response: Response, answer: Answer): string {
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

function findSurprise({ method, url, expect }: DemoRequest, status: number, answer: Answer): string | null {
  const wanted = expect.code === undefined ? `${expect.status}` : `${expect.status} ${expect.code}`;
  const isExpected =
    status === expect.status && (expect.code === undefined || answer['code'] === expect.code);
  if (isExpected) return null;
  return `${method} ${url}: expected ${wanted}, got ${status} ${String(answer['code'] ?? '')}`;
}
