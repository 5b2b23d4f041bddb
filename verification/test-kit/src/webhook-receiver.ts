import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { leasePort } from '@phds/local-stack/servers/leased-ports';
import { Webhook } from 'standardwebhooks';
import { closeAtOnce, listenOnLoopback } from './loopback.ts';

/** What the events say; each has some of these. */
interface EventData {
  readonly grantId?: string;
  readonly sub?: string;
  readonly endedBy?: string;
  readonly scopes?: readonly string[];
  readonly expiresAt?: string;
  readonly dataFrom?: string | null;
  readonly categories?: readonly string[];
  readonly lastDataAt?: string;
}

/** A request that the receiver accepted. */
interface ReceivedEvent {
  readonly id: string;
  readonly type: string;
  readonly data: EventData;
  readonly body: string;
  readonly headers: IncomingHttpHeaders;
}

/** Decides how a request is answered. */
type Answering = (event: ReceivedEvent) => number | Promise<number>;

/** An app's receiver on 127.0.0.1, which verifies every request with the library of Standard Webhooks. */
export class WebhookReceiver implements AsyncDisposable {
  readonly #secrets: string[] = [];
  #server: Server | null = null;
  readonly #port: number;
  /** Requests that were verified and accepted (2xx), in the order of their arrival. */
  readonly accepted: ReceivedEvent[] = [];
  /** The statuses of all answers. */
  readonly answers: number[] = [];
  answer: Answering = () => 204;

  private constructor(port: number) {
    this.#port = port;
  }

  static async start(): Promise<WebhookReceiver> {
    const receiver = new WebhookReceiver(await leasePort());
    await receiver.restore();
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/events`;
  }

  /** Verifies with these secrets from now on: one of them has to fit. */
  use(...secrets: string[]): void {
    this.#secrets.splice(0, Number.POSITIVE_INFINITY, ...secrets);
  }

  /** Ends the process, as far as senders see: open connections break, and new ones are refused. */
  async kill(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (server !== null) await closeAtOnce(server);
  }

  /** Listens again, on the same port. */
  async restore(): Promise<void> {
    const server = createServer((request, response) => {
      this.#receive(request).then(
        (status) => response.writeHead(status).end(),
        () => response.destroy(),
      );
    });
    await listenOnLoopback(server, this.#port);
    this.#server = server;
  }

  /** The accepted events without repetitions, as an app keeps them. */
  get events(): ReceivedEvent[] {
    return [...new Map(this.accepted.toReversed().map((event) => [event.id, event])).values()].toReversed();
  }

  async #receive(request: IncomingMessage): Promise<number> {
    const body = await text(request);
    const event = this.#verify(body, request.headers);
    const status = event === null ? 401 : await this.answer(event);
    this.answers.push(status);
    if (event !== null && status >= 200 && status < 300) this.accepted.push(event);
    return status;
  }

  #verify(body: string, headers: IncomingHttpHeaders): ReceivedEvent | null {
    for (const secret of this.#secrets) {
      try {
        const { type, data } = new Webhook(secret).verify(
          body,
          headers as Record<string, string>,
        ) as ReceivedEvent;
        return { id: String(headers['webhook-id']), type, data, body, headers };
      } catch {
        // Perhaps another secret fits.
      }
    }
    return null;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
