import { connect, type Socket } from 'node:net';

/** A response exactly as sent over the wire. */
export interface WireAnswer {
  /** 0 when there was no response: the connection broke or was refused, or the time limit passed. */
  readonly status: number;
  /** Status line and header fields. */
  readonly head: string;
  readonly body: string;
  /** Whether the response is complete. */
  readonly whole: boolean;
  /** Whether the time limit passed; the connection is then closed. */
  readonly late: boolean;
  /** From the request to its end. */
  readonly milliseconds: number;
}

/** A client of a gateway with kept-alive connections and one request at a time on each. */
export interface Wire extends Disposable {
  get(path: string, headers: Readonly<Record<string, string>>): Promise<WireAnswer>;
  /** Sends a request unchanged, one byte for each character (latin1). */
  ask(request: string): Promise<WireAnswer>;
}

const NOTHING: WireAnswer = { status: 0, head: '', body: '', whole: false, late: false, milliseconds: 0 };
const END_OF_HEAD = '\r\n\r\n';

/** Opens connections on demand. Every request has the time limit `limitMs`. */
export function openWire(gatewayUrl: string, limitMs: number): Wire {
  const port = Number(new URL(gatewayUrl).port);
  const idle: Connection[] = [];
  const open = new Set<Connection>();
  const ask = async (request: string) => {
    const connection = idle.pop() ?? new Connection(port);
    open.add(connection);
    const began = performance.now();
    const answer = await connection.ask(request, limitMs);
    const milliseconds = performance.now() - began;
    if (connection.usable) idle.push(connection);
    else {
      connection.close();
      open.delete(connection);
    }
    return { ...answer, milliseconds };
  };
  return {
    get(path, headers) {
      const fields = Object.entries({ Host: 'localhost', ...headers });
      const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
      return ask(`GET ${path} HTTP/1.1\r\n${lines}\r\n`);
    },
    ask,
    [Symbol.dispose]: () => {
      for (const connection of open) connection.close();
    },
  };
}

class Connection {
  usable = true;
  readonly #socket: Socket;
  #received = '';
  #isHead = false;
  #settle: ((answer: WireAnswer) => void) | null = null;

  constructor(port: number) {
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text) => this.#receive(String(text)));
    this.#socket.on('error', () => undefined);
    this.#socket.on('close', () => this.#break(false));
  }

  ask(request: string, limitMs: number): Promise<WireAnswer> {
    if (!this.usable) return Promise.resolve(NOTHING);
    const { promise, resolve } = Promise.withResolvers<WireAnswer>();
    const timer = setTimeout(() => this.#break(true), limitMs);
    this.#settle = (answer) => {
      this.#settle = null;
      clearTimeout(timer);
      resolve(answer);
    };
    this.#received = '';
    this.#isHead = request.startsWith('HEAD ');
    this.#socket.write(request, 'latin1');
    return promise;
  }

  close(): void {
    this.usable = false;
    this.#socket.destroy();
  }

  /** Partial responses count: the first bytes of data are data. */
  #break(late: boolean): void {
    this.usable = false;
    this.#socket.destroy();
    const { head, body } = split(this.#received);
    this.#settle?.({ ...NOTHING, status: statusOf(head), head, body, late });
  }

  #receive(text: string): void {
    this.#received += text;
    const { head, body } = split(this.#received);
    if (!this.#received.includes(END_OF_HEAD)) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
    // A response to HEAD announces a length but has no body.
    if (!this.#isHead && body.length < Number(length ?? 0)) return;
    // The end of the response is unknown, so the connection is not reused: later bytes could be taken for the next response.
    if (length === undefined && !/^HTTP\/1\.1 (204|304)/.test(head)) this.usable = false;
    if (/\r\nconnection: *close/i.test(head)) this.usable = false;
    this.#settle?.({ ...NOTHING, status: statusOf(head), head, body, whole: true });
  }
}

function split(received: string): { head: string; body: string } {
  const end = received.indexOf(END_OF_HEAD);
  if (end < 0) return { head: received, body: '' };
  return { head: received.slice(0, end), body: received.slice(end + END_OF_HEAD.length) };
}

function statusOf(head: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
}

/** Receives the duration of a request, and its description if it took too long. */
type Watcher = (late: string | null, milliseconds: number) => void;

/** Adds a time limit to `fetch` in this process. A request that exceeds it is reported and rejects. */
export function boundFetch(limitMs: number, watch: Watcher): void {
  const unbounded = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const started = performance.now();
    const signal = AbortSignal.timeout(limitMs);
    try {
      const response = await unbounded(input, { ...init, signal });
      // The same limit applies to reading the body.
      return response;
    } finally {
      const late = signal.aborted
        ? `${init?.method ?? 'GET'} ${toPath(input)} was not answered within ${limitMs} ms`
        : null;
      watch(late, performance.now() - started);
    }
  };
}

// Without ids, which are irrelevant here and sometimes secret.
function toPath(input: Parameters<typeof fetch>[0]): string {
  const url = new URL(input instanceof Request ? input.url : input);
  return url.pathname.replace(/\b(app|apr|grt)_\w+/g, ':id');
}
