import { type DescMessage, type DescMethodUnary, fromBinary } from '@bufbuild/protobuf';
import {
  type ClientDuplexStream,
  Client as GrpcClient,
  status as GrpcStatus,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { withoutDeadline } from '../deadline.ts';
import { CallStream } from './call-stream.ts';
import { type AnswersMessage, encode, type StreamOfCalls } from './calls.ts';
import { CHANNEL_OPTIONS, type RpcChannelOptions } from './client.ts';
import { fromGrpcError } from './errors.ts';
import { channelCredentials } from './tls.ts';

export interface CallStreamsOptions<I extends DescMessage, O extends DescMessage>
  extends Omit<RpcChannelOptions, 'deadlineMs'> {
  readonly method: StreamOfCalls;
  /** The unary rpc whose calls the streams carry. */
  readonly carried: DescMethodUnary<I, O>;
  /** Called when a stream could not be opened, once for each outage. */
  readonly onFailure: (error: unknown) => void;
  /** After this many milliseconds, each stream is replaced by a new one. */
  readonly renewMs?: number;
  /** After an outage, or the end of a stream, the next attempt comes after this many milliseconds. */
  readonly retryMs?: number;
}

/** A stream to each replica of another service. */
export interface CallStreams<I extends DescMessage, O extends DescMessage> extends Disposable {
  /** Empty while the service cannot be reached. */
  readonly open: readonly CallStream<I, O>[];
}

// Streams are short, because a server grants 30 s between its last call on a connection and the end of the connection
// (`grpc.max_connection_age_grace_ms`). For the same reason a stream outlives neither its service token nor an address that left the
// name service.
const RENEW_MS = 10_000;
const MAX_AGE_MS = 15_000;
/** The end of a stream whose calls are not answered, by the deadline of the rpc. */
const LIMIT_MS = 30_000;
const OPEN_LIMIT_MS = 2_000;
const RETRY_MS = 1_000;

const STREAM_OPTIONS = {
  ...CHANNEL_OPTIONS,
  // Each replica gets its stream, also one whose streams failed.
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  // No pings: after a server has announced the end of a connection (`grpc.max_connection_age_ms`), Node refuses to ping, and grpc-js
  // then drops the connection with every stream on it. A renewal that gets no answer finds a dead connection as soon.
  'grpc.keepalive_time_ms': -1,
};

/** Opens a stream to each replica, and keeps them open until disposal. */
export function openCallStreams<I extends DescMessage, O extends DescMessage>(
  options: CallStreamsOptions<I, O>,
): CallStreams<I, O> {
  return withoutDeadline(() => new Streams(options));
}

class Streams<I extends DescMessage, O extends DescMessage> implements CallStreams<I, O> {
  readonly #options: CallStreamsOptions<I, O>;
  /** Not shared with unary calls: the balancing gives each new stream to the next replica. */
  #grpc: GrpcClient;
  readonly #byPeer = new Map<string, { readonly stream: CallStream<I, O>; readonly since: number }>();
  #open: readonly CallStream<I, O>[] = [];
  #renewal: NodeJS.Timeout | undefined;
  #isRenewing = false;
  /** Until the next renewal, in milliseconds. */
  #waitMs = 0;
  #isFailing = false;
  #isDisposed = false;

  constructor(options: CallStreamsOptions<I, O>) {
    this.#options = options;
    this.#grpc = this.#connect();
    void this.#renew();
  }

  get open(): readonly CallStream<I, O>[] {
    return this.#open;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    clearTimeout(this.#renewal);
    for (const stream of this.#open) stream.cancel();
    this.#grpc.close();
  }

  get #renewMs(): number {
    return this.#options.renewMs ?? RENEW_MS;
  }

  get #retryMs(): number {
    return this.#options.retryMs ?? RETRY_MS;
  }

  #connect(): GrpcClient {
    const { address, tls } = this.#options;
    return new GrpcClient(address, channelCredentials(tls), STREAM_OPTIONS);
  }

  /** Never rejects. */
  async #renew(): Promise<void> {
    this.#isRenewing = true;
    this.#waitMs = this.#renewMs;
    const before = this.#byPeer.size;
    try {
      await this.#openAll();
      // The first streams all go to the replica that is connected first, while the others still connect.
      if (this.#byPeer.size > before) this.#waitMs = this.#retryMs;
      this.#isFailing = false;
    } catch (error) {
      if (!this.#isFailing && !this.#isDisposed) this.#options.onFailure(error);
      this.#isFailing = true;
      if (!isUnserved(error)) {
        this.#waitMs = this.#retryMs;
        this.#reconnect();
      }
    }
    for (const { stream, since } of this.#byPeer.values()) {
      if (performance.now() - since > MAX_AGE_MS) stream.close();
    }
    this.#isRenewing = false;
    this.#renewLater();
  }

  /** Leaves a connection that may be dead. Its streams go on until they are closed. */
  #reconnect(): void {
    if (this.#isDisposed) return;
    this.#grpc.close();
    this.#grpc = this.#connect();
  }

  #renewLater(): void {
    if (this.#isRenewing || this.#isDisposed) return;
    clearTimeout(this.#renewal);
    this.#renewal = setTimeout(() => void this.#renew(), this.#waitMs);
    this.#renewal.unref();
  }

  /** Opens streams until one goes to the same replica as an earlier one. Each replaces the stream to its replica, unless that is young. */
  async #openAll(): Promise<void> {
    const seen = new Set<string>();
    for (;;) {
      const stream = await this.#openOne();
      if (this.#isDisposed) return stream.cancel();
      if (seen.has(stream.peer)) return stream.close();
      seen.add(stream.peer);
      const before = this.#byPeer.get(stream.peer);
      if (before !== undefined && performance.now() - before.since < this.#renewMs / 2) {
        stream.close();
        continue;
      }
      this.#byPeer.set(stream.peer, { stream, since: performance.now() });
      this.#list();
      before?.stream.close();
    }
  }

  async #openOne(): Promise<CallStream<I, O>> {
    const { method, carried, tokens, audience } = this.#options;
    const metadata = new Metadata();
    metadata.set('authorization', `Bearer ${await tokens(audience)}`);
    const duplex = this.#grpc.makeBidiStreamRequest(
      `/${method.parent.typeName}/${method.name}`,
      (message: object) => encode(method.input, message),
      (bytes: Buffer) => fromBinary(method.output, bytes),
      metadata,
      { deadline: Date.now() + LIMIT_MS },
    );
    await whenAdmitted(duplex);
    return new CallStream({
      method: carried,
      duplex,
      onClosed: (stream) => this.#remove(stream),
      observer: this.#options.observer,
    });
  }

  #remove(stream: CallStream<I, O>): void {
    if (this.#byPeer.get(stream.peer)?.stream !== stream) return;
    this.#byPeer.delete(stream.peer);
    this.#list();
    // Its replica may be back, or another in its place.
    this.#waitMs = this.#retryMs;
    this.#renewLater();
  }

  #list(): void {
    this.#open = [...this.#byPeer.values()].map(({ stream }) => stream);
  }
}

/** Whether the replica is of a release without the rpc, and only its update helps. */
function isUnserved(error: unknown): boolean {
  return (error as { cause?: Partial<ServiceError> }).cause?.code === GrpcStatus.UNIMPLEMENTED;
}

/** Resolves when the service has accepted the stream. */
function whenAdmitted(duplex: ClientDuplexStream<object, AnswersMessage>): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const limit = setTimeout(() => duplex.cancel(), OPEN_LIMIT_MS);
  duplex.once('metadata', () => resolve());
  duplex.once('error', (error: ServiceError) => reject(fromGrpcError(error)));
  return promise.finally(() => clearTimeout(limit));
}
