import { readFileSync } from 'node:fs';
import { STATUS_CODES } from 'node:http';
import type { ProblemCode } from '@phds/catalog/problems';

/** A message of HTTP as it was recorded, with secrets shortened. */
interface Message {
  readonly headers: Readonly<Record<string, string>>;
  /** The body: parsed JSON, other text, or null. */
  readonly body: unknown;
}

/** A request and the answer that a running service gave. */
export interface Recorded {
  readonly request: Message & { readonly method: string; readonly path: string };
  readonly answer: Message & { readonly status: number };
}

/** A recorded exchange as text. */
interface RenderedExample {
  readonly request: string;
  readonly answer: string;
}

/** How many lines of a body are shown. */
const MOST_LINES = 60;

/** One exchange for each operation, written by `pnpm record:examples`. */
export const answers: Readonly<Record<string, Recorded>> = readExamples('answers.json');

/** One for each error code. */
export const problems: Readonly<Partial<Record<ProblemCode, Recorded>>> = readExamples('problems.json');

function readExamples(file: string) {
  return JSON.parse(readFileSync(new URL(`../examples/${file}`, import.meta.url), 'utf8'));
}

/** The exchange as HTTP shows it, with the body formatted; null if none was recorded. */
export function renderExample(recorded: Recorded | undefined): RenderedExample | null {
  if (recorded === undefined) return null;
  const { request, answer } = recorded;
  const { method, path, ...rest } = request;
  return {
    request: renderMessage(`${method} ${path} HTTP/1.1`, rest),
    answer: renderMessage(`HTTP/1.1 ${answer.status} ${STATUS_CODES[answer.status] ?? ''}`.trim(), answer),
  };
}

function renderMessage(first: string, { headers, body }: Message): string {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const head = [first, ...fields].join('\n');
  return body === null ? head : `${head}\n\n${renderBody(body)}`;
}

function renderBody(body: unknown): string {
  const lines = (typeof body === 'string' ? body : JSON.stringify(body, null, 2)).split(/\r?\n/);
  return lines.length <= MOST_LINES ? lines.join('\n') : [...lines.slice(0, MOST_LINES), '…'].join('\n');
}
