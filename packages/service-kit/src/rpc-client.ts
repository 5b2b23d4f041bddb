import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { type Client, createClient, type Transport, type UnaryResponse } from '@connectrpc/connect';
import { Client as GrpcClient, Metadata, type ServiceError } from '@grpc/grpc-js';
import { currentDeadline } from './deadline.ts';
import { unavailable } from './errors.ts';
import { fromGrpcError } from './rpc-errors.ts';
import { channelCredentials, type TlsFiles } from './rpc-tls.ts';
import type { ServiceTokenSource } from './service-token.ts';

export interface RpcChannelOptions {
  /** `host:port`, or a gRPC name such as `dns:///consent:7002`, whose addresses are balanced over. */
  readonly address: string;
  /** Name of the service that is called: the audience of the service token. */
  readonly audience: string;
  readonly tokens: ServiceTokenSource;
  /**
   * For calls that say nothing else, in milliseconds. Every call has a deadline, which is never later than that of the call
   * it is made for.
   */
  readonly deadlineMs: number;
  readonly tls?: TlsFiles;
}

/** A connection to one other service, which the typed clients of its services share. */
export interface RpcChannel extends Disposable {
  /** A typed client; its calls reject with AppError alone, the callee's reason restored. */
  client<Service extends DescService>(service: Service): Client<Service>;
}

/** What the callee's answer, or its refusal, takes on the way back. */
const HOP_MARGIN_MS = 20;

const CHANNEL_OPTIONS = {
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [{ round_robin: {} }] }),
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // The library's own 30 s would keep a replica that moved to another address unreachable for as long.
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  // Who balances and how is decided here, not by a TXT record.
  'grpc.service_config_disable_resolution': 1,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 3_000,
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
  // Two channels of one process to the same address must not share a connection that one of them closes.
  'grpc.use_local_subchannel_pool': 1,
  // Books that the library keeps of every call, and that nobody reads.
  'grpc.enable_channelz': 0,
};

/** Opens a channel; it connects when first used, and again by itself whenever the other side comes back. */
export function openRpcChannel(options: RpcChannelOptions): RpcChannel {
  const grpc = new GrpcClient(options.address, channelCredentials(options.tls), CHANNEL_OPTIONS);
  const transport = createGrpcTransport(grpc, options);
  return {
    client: (service) => createClient(service, transport),
    [Symbol.dispose]: () => grpc.close(),
  };
}

function createGrpcTransport(grpc: GrpcClient, options: RpcChannelOptions): Transport {
  return {
    async unary(method, signal, timeoutMs, header, input) {
      const metadata = new Metadata();
      for (const [name, value] of toPairs(header)) metadata.set(name, value);
      metadata.set('authorization', `Bearer ${await options.tokens(options.audience)}`);
      return call(grpc, method, metadata, toTimeLeft(timeoutMs ?? options.deadlineMs), signal, input);
    },
    stream() {
      throw new TypeError('only unary rpcs are called');
    },
  };
}

/** The limit, or what the own caller's deadline leaves of it. Throws `unavailable` when that is nothing. */
function toTimeLeft(limitMs: number): number {
  const deadline = currentDeadline();
  if (deadline === undefined) return limitMs;
  const leftMs = Math.min(limitMs, deadline.remainingMs() - HOP_MARGIN_MS);
  if (leftMs > 0) return leftMs;
  throw unavailable(new Error('the caller waits no more: nothing is asked of another service'));
}

/** Plain objects are what hot paths pass; a Headers object made for each of them would cost more than the rest. */
function toPairs(header: Parameters<Transport['unary']>[3]): Iterable<[string, string]> {
  if (header === undefined) return [];
  const plain = Object.getPrototypeOf(header) === Object.prototype;
  return plain ? Object.entries(header as Record<string, string>) : new Headers(header);
}

function call<I extends DescMessage, O extends DescMessage>(
  grpc: GrpcClient,
  method: DescMethodUnary<I, O>,
  metadata: Metadata,
  timeoutMs: number,
  signal: AbortSignal | undefined,
  input: MessageInitShape<I>,
): Promise<UnaryResponse<I, O>> {
  const deadline = currentDeadline();
  return new Promise((resolve, reject) => {
    const running = grpc.makeUnaryRequest(
      `/${method.parent.typeName}/${method.name}`,
      (message: MessageInitShape<I>) => {
        const bytes = toBinary(method.input, create(method.input, message));
        return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      },
      (bytes: Buffer): MessageShape<O> => fromBinary(method.output, bytes),
      input,
      metadata,
      { deadline: Date.now() + timeoutMs },
      (error: ServiceError | null, message?: MessageShape<O>) => {
        deadline?.release(ongoing);
        if (error !== null) reject(fromGrpcError(error));
        else resolve(new GrpcResponse(method, message as MessageShape<O>));
      },
    );
    const ongoing = { abandon: () => running.cancel() };
    deadline?.hold(ongoing);
    signal?.addEventListener('abort', () => running.cancel(), { once: true });
  });
}

/** The answer as Connect's types want it. Our rpcs carry nothing in headers and trailers, so these are made when asked for. */
class GrpcResponse<I extends DescMessage, O extends DescMessage> implements UnaryResponse<I, O> {
  readonly stream = false;
  readonly service: DescService;
  readonly method: DescMethodUnary<I, O>;
  readonly message: MessageShape<O>;

  constructor(method: DescMethodUnary<I, O>, message: MessageShape<O>) {
    this.service = method.parent;
    this.method = method;
    this.message = message;
  }

  get header(): Headers {
    return new Headers();
  }

  get trailer(): Headers {
    return new Headers();
  }
}
