import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { closeAtOnce, listenOnLoopback } from './loopback.ts';

/** A span as it was exported. */
export interface ReceivedSpan {
  /** `service.name` of its process. */
  readonly service: string;
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly attributes: Readonly<Record<string, string | number>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  /** 2 is an error. */
  readonly status: number;
}

interface Pair {
  readonly key: string;
  readonly value: {
    readonly stringValue?: string;
    readonly intValue?: number;
    readonly doubleValue?: number;
  };
}

interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[];
  }[];
}

type ExportedSpan = Omit<ReceivedSpan, 'service' | 'attributes' | 'status' | 'parentSpanId' | 'links'> & {
  readonly parentSpanId?: string;
  readonly attributes: readonly Pair[];
  readonly links?: ReceivedSpan['links'];
  readonly status: { readonly code?: number };
};

/** A receiver of OTLP over HTTP with JSON on 127.0.0.1. */
export class OtlpReceiver implements AsyncDisposable {
  readonly #server: Server;
  #port = 0;
  /** The bodies of all exports. */
  readonly bodies: string[] = [];
  readonly requests: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = [];
  /** Answers an export. Default: 200. */
  answer: (response: ServerResponse) => void = (response) =>
    void response.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');

  constructor() {
    this.#server = createServer(async (request, response) => {
      this.requests.push({ url: request.url ?? '', headers: request.headers });
      this.bodies.push(await text(request));
      this.answer(response);
    });
  }

  static async start(): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver();
    receiver.#port = await listenOnLoopback(receiver.#server, 0);
    return receiver;
  }

  get endpoint(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** All spans, in the order of their arrival. */
  get spans(): ReceivedSpan[] {
    return this.bodies.flatMap((body) => toSpans(JSON.parse(body)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return closeAtOnce(this.#server);
  }
}

function toSpans({ resourceSpans }: Export): ReceivedSpan[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(toRecord(resource.attributes)['service.name']);
    return scopeSpans.flatMap(({ spans }) =>
      spans.map(({ parentSpanId = '', attributes, links = [], status, ...span }) => ({
        ...span,
        service,
        parentSpanId,
        attributes: toRecord(attributes),
        links,
        status: status.code ?? 0,
      })),
    );
  });
}

function toRecord(pairs: readonly Pair[]): Record<string, string | number> {
  return Object.fromEntries(
    pairs.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? value.doubleValue ?? '']),
  );
}
