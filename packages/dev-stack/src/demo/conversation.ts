import { STATUS_CODES } from 'node:http';
import { shortenBody, shortenSecrets, toLine } from './shorten.ts';

/** One request of the demo. */
export interface DemoRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Access token or session. */
  readonly bearer?: string;
  readonly body?: Readonly<Record<string, unknown>>;
  /** What the contract promises here. */
  readonly expect: { readonly status: number; readonly code?: string };
  /** One line for the answer instead of all of it. */
  readonly brief?: boolean;
}

/** The body of an answer as JSON; null when it is none. */
export type Answer = Readonly<Record<string, unknown>>;

/** Talks to the service and prints every word of it. */
export interface Conversation {
  /** Announces the next step. */
  step(title: string): void;
  send(request: DemoRequest): Promise<Answer>;
  /** Answers that were not what the contract promises. */
  readonly surprises: readonly string[];
}

const BRIEF_LENGTH = 170;
const INDENT = '    ';

/** A conversation that is printed through `say`, line by line. */
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

/** What one wants to know first of an answer that is cut short. */
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
