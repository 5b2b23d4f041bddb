import {
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
} from '@bufbuild/protobuf';
import { type Client, createClient, type Transport, type UnaryResponse } from '@connectrpc/connect';
import { Client as GrpcClient, Metadata, type ServiceError } from '@grpc/grpc-js';
import { type Clock, systemClock } from '../clock.ts';
import { currentDeadline, toCarriedIds } from '../current-work.ts';
import { unavailable } from '../errors.ts';
import type { Reloads } from '../settings/reload.ts';
import type { commonSettings, SettingsOf } from '../settings/settings.ts';
import { type Metrics, measureCalledRpcs } from '../telemetry/metrics.ts';
import { createServiceTokenSource, type ServiceTokenSource } from '../trust/callers.ts';
import { REQUEST_ID_METADATA } from './context.ts';
import { fromGrpcError, isConnectionLost, type RpcObserver, toRpcCode } from './errors.ts';
import { encode } from './messages.ts';
import { channelCredentials, type TlsFiles } from './tls.ts';

export interface RpcChannelOptions {
  /** `host:port`, or a gRPC name such as `dns:///consent:7002`; calls are balanced over its addresses. */
  readonly address: string;
  /** Name of the called service, used as audience of the service token. */
  readonly audience: string;
  readonly tokens: ServiceTokenSource;
  /** Default timeout of a call, in milliseconds. Every call has a deadline, at most that of the call it is made for. */
  readonly deadlineMs: number;
  readonly tls?: TlsFiles;
  /** Sent with every call. */
  readonly metadata?: Readonly<Record<string, string>>;
  /** Observes every call that is sent. */
  readonly observer?: RpcObserver;
}

/** A connection to another service, shared by the typed clients of its rpc services. */
export interface RpcChannel extends Disposable {
  /** Returns a typed client. Its calls reject only with AppError, with the callee's reason restored. */
  client<Service extends DescService>(service: Service): Client<Service>;
}

/** Calls once more if the connection was lost, which another replica answers. For calls that may be executed twice. */
export async function repeatIfLost<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!isConnectionLost(error)) throw error;
    return call();
  }
}

/** Time reserved for the callee's response to travel back. */
const HOP_MARGIN_MS = 20;

/** The replicas take turns. */
const ROUND_ROBIN = { round_robin: {} };

/**
 * One replica is left out for 5 to 10 s when all of at least three calls of a second to it failed, and another serves. So a replica that
 * freezes fails half of the calls for the deadline of a call, not until its connection is known to be dead after 13 s. grpc-js counts every
 * status but OK as a failure, so rare errors of callers alone can also leave one out; the others serve meanwhile.
 */
const WITHOUT_FAILING = {
  outlier_detection: {
    interval: { seconds: 1, nanos: 0 },
    base_ejection_time: { seconds: 5, nanos: 0 },
    max_ejection_time: { seconds: 10, nanos: 0 },
    failure_percentage_ejection: { threshold: 99, minimum_hosts: 2, request_volume: 3 },
    child_policy: [ROUND_ROBIN],
  },
};

const CHANNEL_OPTIONS = {
  'grpc.service_config': JSON.stringify({ loadBalancingConfig: [WITHOUT_FAILING] }),
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 1_000,
  // The default of 30 s would leave a replica that changed its address unreachable for that long.
  'grpc.dns_min_time_between_resolutions_ms': 1_000,
  // Load balancing is configured here, not by a TXT record.
  'grpc.service_config_disable_resolution': 1,
  'grpc.keepalive_time_ms': 10_000,
  'grpc.keepalive_timeout_ms': 3_000,
  'grpc.max_receive_message_length': 16 * 1024 * 1024,
  // The default of 64 KiB holds one page of FHIR; the next answer would wait until it was read.
  'grpc-node.flow_control_window': 1024 * 1024,
  // Two channels of one process to one address must not share a connection, because one of them may close it.
  'grpc.use_local_subchannel_pool': 1,
  // A proxy in the environment (`https_proxy`) is for addresses outside.
  'grpc.enable_http_proxy': 0,
  // Disables per-call statistics that nothing reads.
  'grpc.enable_channelz': 0,
};

/** Opens a channel. It connects on first use and reconnects automatically. */
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
      for (const [name, value] of Object.entries(options.metadata ?? {})) metadata.set(name, value);
      for (const [name, value] of toPairs(header)) metadata.set(name, value);
      metadata.set('authorization', `Bearer ${await options.tokens(options.audience)}`);
      const requestIds = toCarriedIds();
      if (requestIds !== '') metadata.set(REQUEST_ID_METADATA, requestIds);
      const leftMs = toTimeLeft(timeoutMs ?? options.deadlineMs);
      return call({ grpc, method, metadata, timeoutMs: leftMs, signal, input, observer: options.observer });
    },
    stream() {
      throw new TypeError('only unary rpcs are called');
    },
  };
}

/**
 * The limit, or the remaining time of the current caller's deadline if that is shorter. Throws `unavailable` when no time is left.
 */
export function toTimeLeft(limitMs: number): number {
  const deadline = currentDeadline();
  if (deadline === undefined) return limitMs;
  const leftMs = Math.min(limitMs, deadline.remainingMs() - HOP_MARGIN_MS);
  if (leftMs > 0) return leftMs;
  throw unavailable(new Error('the caller stopped waiting: no other service is called'));
}

/** Hot paths pass plain objects, because creating a Headers object for each call is expensive. */
function toPairs(header: Parameters<Transport['unary']>[3]): Iterable<[string, string]> {
  if (header === undefined) return [];
  const plain = Object.getPrototypeOf(header) === Object.prototype;
  return plain ? Object.entries(header as Record<string, string>) : new Headers(header);
}

interface UnaryCall<I extends DescMessage, O extends DescMessage> {
  readonly grpc: GrpcClient;
  readonly method: DescMethodUnary<I, O>;
  readonly metadata: Metadata;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
  readonly input: MessageInitShape<I>;
  readonly observer: RpcObserver | undefined;
}

function call<I extends DescMessage, O extends DescMessage>({
  grpc,
  method,
  metadata,
  timeoutMs,
  signal,
  input,
  observer,
}: UnaryCall<I, O>): Promise<UnaryResponse<I, O>> {
  const deadline = currentDeadline();
  const ended = observer?.started(method);
  return new Promise((resolve, reject) => {
    const running = grpc.makeUnaryRequest(
      `/${method.parent.typeName}/${method.name}`,
      (message: MessageInitShape<I>) => encode(method.input, message),
      (bytes: Buffer): MessageShape<O> => fromBinary(method.output, bytes),
      input,
      metadata,
      { deadline: Date.now() + timeoutMs },
      (error: ServiceError | null, message?: MessageShape<O>) => {
        deadline?.release(ongoing);
        ended?.(error === null ? 'OK' : toRpcCode(error.code));
        if (error !== null) reject(fromGrpcError(error));
        else resolve(new GrpcResponse(method, message as MessageShape<O>));
      },
    );
    const ongoing = { abort: () => running.cancel() };
    deadline?.hold(ongoing);
    signal?.addEventListener('abort', () => running.cancel(), { once: true });
  });
}

/** The response in the form of Connect's types. Our rpcs use no response headers or trailers, so these are created on demand. */
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

interface ChannelContext {
  readonly service: string;
  readonly clock?: Clock;
  /** Measures the calls of all channels. Default: they are not measured. */
  readonly metrics?: Metrics;
  readonly reloads: Reloads;
}

/** TLS, service tokens and metrics of all channels of a service, for `openRpcChannel`. Called once for each service. */
export function toRpcChannelOptions(
  config: SettingsOf<typeof commonSettings>,
  { service, clock = systemClock, metrics, reloads }: ChannelContext,
): Pick<RpcChannelOptions, 'tokens' | 'tls' | 'observer'> {
  const signing = (privateKeyPem: string) => createServiceTokenSource({ service, privateKeyPem, clock });
  let tokens = signing(config.SERVICE_PRIVATE_KEY);
  reloads.watch(['SERVICE_PRIVATE_KEY'], ({ SERVICE_PRIVATE_KEY: key }) => {
    tokens = signing(key);
  });
  return {
    tokens: (audience) => tokens(audience),
    ...(reloads.tls && { tls: reloads.tls }),
    ...(metrics && { observer: measureCalledRpcs(metrics) }),
  };
}
