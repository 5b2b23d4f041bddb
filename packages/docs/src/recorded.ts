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
export interface RenderedExample {
  readonly request: string;
  readonly answer: string;
}

/** How many lines of a body are shown. */
const MOST_LINES = 60;

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  201: 'Created',
  303: 'See Other',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  410: 'Gone',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** The exchange as HTTP shows it, with the body formatted. */
export function renderExample({ request, answer }: Recorded): RenderedExample {
  const { method, path, ...rest } = request;
  return {
    request: renderMessage(`${method} ${path} HTTP/1.1`, rest),
    answer: renderMessage(`HTTP/1.1 ${answer.status} ${REASONS[answer.status] ?? ''}`.trim(), answer),
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
