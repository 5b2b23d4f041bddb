import type { ServerOptions } from 'node:http2';
import { isIPv6 } from 'node:net';
import { type DescMethodUnary, fromBinary } from '@bufbuild/protobuf';
import {
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { type Clock, systemClock } from '../clock.ts';
import { toAppError } from '../errors.ts';
import type { RunningService } from '../lifecycle.ts';
import {
  closeHttp,
  createProbeServer,
  EVERY_ADDRESS,
  listenHttp,
  measureReadiness,
  watchReadiness,
} from '../probes.ts';
import type { Reloads } from '../settings/reload.ts';
import type { commonSettings, rpcSettings, SettingsOf } from '../settings/settings.ts';
import type { Logger } from '../telemetry/log.ts';
import { type Metrics, measureServedRpcs } from '../telemetry/metrics.ts';
import { createServiceTokenVerifier, parseRoles, type ServiceTokenVerifier } from '../trust/callers.ts';
import { createConnectServer } from './connect-port.ts';
import { RpcContext, type UnaryHandler } from './context.ts';
import { toGrpcError } from './errors.ts';
import { decode, encode } from './messages.ts';
import type { OperatorRecord } from './operator-acts.ts';
import type { RpcGuard, RpcService } from './service.ts';
import { serverCredentials, type TlsFiles } from './tls.ts';

const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const MAX_DEADLINE_MS = 30_000;
const DRAIN_LIMIT_MS = 5_000;
const CONNECT_LIMITS = { maxMessageBytes: MAX_MESSAGE_BYTES, maxDeadlineMs: MAX_DEADLINE_MS };

/** More than any caller can reach. */
const RESETS = 1_000_000;

/** Callers resolve the name again only when a connection ends, which is how they find new replicas. */
const CONNECTION_AGE = { maxMs: 120_000, graceMs: MAX_DEADLINE_MS };

export interface RpcServerOptions {
  readonly services: readonly ((guard: RpcGuard) => RpcService)[];
  readonly verifyCaller: ServiceTokenVerifier;
  /** The operators that are admitted, and where their acts are recorded. Default: none. */
  readonly operators?: NonNullable<RpcGuard['operators']>;
  readonly log: Logger;
  readonly host: string;
  /** gRPC port; 0 picks a free one. */
  readonly rpcPort: number;
  /** Port of the Connect protocol and gRPC-Web; 0 picks a free one. Default: not served. */
  readonly connectPort?: number | undefined;
  /** Port of /livez, /readyz and /metrics in plain HTTP; null for none. */
  readonly probePort: number | null;
  /** Whether the service can work now; reported by grpc.health.v1 and /readyz. May reject with the reason why it cannot. */
  readonly health: () => Promise<boolean>;
  /** Measures the rpcs and the readiness, and is served at /metrics. Default: nothing is measured. */
  readonly metrics?: Metrics;
  /** When a connection ends: no new calls after `maxMs`, and no running ones after `graceMs` more. */
  readonly connectionAge?: { readonly maxMs: number; readonly graceMs: number };
  /** Applies to the gRPC port and the Connect port. */
  readonly tls?: TlsFiles;
}

/** The open ports; null for one not requested. */
interface RpcPorts {
  readonly rpcPort: number;
  readonly probePort: number | null;
  readonly connectPort: number | null;
}

export interface RpcServer extends RpcPorts, RunningService {}

/**
 * Serves the rpcs over gRPC, together with probes. Rejects if the first check of `health` finds settings that cannot be used. Disposal asks callers to connect
 * elsewhere and waits for calls in progress.
 */
export async function startRpcServer(options: RpcServerOptions): Promise<RpcServer> {
  const { metrics } = options;
  const guard: RpcGuard = { ...options, ...(metrics && { observer: measureServedRpcs(metrics) }) };
  const services = options.services.map((build) => build(guard));
  const health = new HealthImplementation({ '': 'NOT_SERVING' });
  const grpc = new Server(toServerOptions(options));
  tolerateResets(grpc);
  for (const service of services) mountGrpc(grpc, service);
  health.addToServer(grpc);
  const { address, rpcPort } = await bindGrpc(grpc, options);
  let isLeaving = false;
  // However many ask at once, the service checks itself once: anybody can ask, and the check may use the connections of the hot path.
  let check: Promise<boolean> | undefined;
  const isReady = async () => {
    check ??= options.health().finally(() => {
      check = undefined;
    });
    return (await check) && !isLeaving;
  };
  const probes = createProbeServer({ isReady, ...(metrics && { metrics }) });
  const probePort =
    options.probePort === null ? null : await listenHttp(probes, options.host, options.probePort);
  const connect =
    options.connectPort === undefined ? null : createConnectServer(services, options.tls, CONNECT_LIMITS);
  const connectPort = connect && (await listenHttp(connect.server, options.host, options.connectPort ?? 0));
  let isServing = false;
  const setServing = (serving: boolean) => {
    isServing = serving;
    // grpc.health.v1 has to be notified of changes.
    health.setStatus('', serving ? 'SERVING' : 'NOT_SERVING');
  };
  if (metrics !== undefined) measureReadiness(metrics, () => isServing);
  const ports = { rpcPort, probePort, connectPort };
  const watch = watchReadiness({ check: isReady, log: options.log, ports, onChecked: setServing });
  const leave = () => {
    isLeaving = true;
    watch.stop();
    setServing(false);
    // Callers connect again, and so resolve the name while this replica still serves: they know the others before it stops.
    grpc.drain(`${address}:${rpcPort}`, MAX_DEADLINE_MS);
  };
  const dispose = async () => {
    leave();
    await Promise.all([closeGrpc(grpc), closeHttp(probes), connect?.close()]);
  };
  await watch.first.catch(async (error) => {
    await dispose();
    throw error;
  });
  return { ...ports, leave, [Symbol.asyncDispose]: dispose };
}

function toServerOptions({ connectionAge = CONNECTION_AGE }: RpcServerOptions) {
  return {
    'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
    'grpc.max_connection_age_ms': connectionAge.maxMs,
    'grpc.max_connection_age_grace_ms': connectionAge.graceMs,
    // Disables per-call statistics that nothing reads.
    'grpc.enable_channelz': 0,
  };
}

function mountGrpc(server: Server, service: RpcService): void {
  const definition: Record<string, MethodDefinition<object, object>> = {};
  const implementation: UntypedServiceImplementation = {};
  for (const method of service.descriptor.methods as DescMethodUnary[]) {
    const handler = service.handlers.get(method.localName);
    if (handler === undefined) continue;
    definition[method.localName] = toDefinition(method);
    implementation[method.localName] = unaryCall(method, handler);
  }
  server.addService(definition, implementation);
}

function toDefinition(method: DescMethodUnary): MethodDefinition<object, object> {
  return {
    path: `/${method.parent.typeName}/${method.name}`,
    requestStream: false,
    responseStream: false,
    requestSerialize: (message) => encode(method.input, message),
    requestDeserialize: (bytes: Buffer) => decode(method.input, bytes),
    responseSerialize: (message) => encode(method.output, message),
    responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
  };
}

function unaryCall(method: DescMethodUnary, handler: UnaryHandler): handleUnaryCall<object, object> {
  return (call, callback) => {
    const context = new RpcContext(method, call.metadata, call.getDeadline(), {}, call.getPeer());
    call.on('cancelled', () => context.cancel());
    handler(call.request as never, context).then(
      (response) => callback(null, response),
      (error: unknown) => callback(toGrpcError(toAppError(error))),
    );
  };
}

/**
 * Allows callers to cancel any number of calls. Node's HTTP/2 server ends a connection after a burst of a thousand resets, or more
 * than 33 a second (CVE-2023-44487). When a dependency hangs, deadlines cause that many resets, and all other calls of the
 * connection would fail. Only our own services reach this port. grpc-js has no option for the limits, but passes its options to
 * `http2.createServer`; a test verifies this.
 */
function tolerateResets(server: Server): void {
  const { commonServerOptions } = server as unknown as { commonServerOptions: ServerOptions };
  Object.assign(commonServerOptions, { streamResetBurst: RESETS, streamResetRate: RESETS });
}

/** Opens the port. A machine whose kernel has no IPv6 listens on IPv4 in place of `::`, as Node does for HTTP. */
async function bindGrpc(
  server: Server,
  { host, rpcPort, tls }: RpcServerOptions,
): Promise<{ readonly address: string; readonly rpcPort: number }> {
  const bind = (address: string) =>
    new Promise<{ address: string; rpcPort: number }>((resolve, reject) => {
      server.bindAsync(`${address}:${rpcPort}`, serverCredentials(tls), (error, port) =>
        error === null ? resolve({ address, rpcPort: port }) : reject(error),
      );
    });
  if (!isIPv6(host)) return bind(host);
  return bind(`[${host}]`).catch((error: Error) => {
    if (host === EVERY_ADDRESS && error.message.includes('EAFNOSUPPORT')) return bind('0.0.0.0');
    throw error;
  });
}

function closeGrpc(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.forceShutdown(), DRAIN_LIMIT_MS);
    server.tryShutdown(() => {
      clearTimeout(limit);
      resolve();
    });
  });
}

/** The ports, TLS, callers and operators of a service, for `startRpcServer`. */
export function toRpcServerOptions(
  config: SettingsOf<typeof commonSettings> & SettingsOf<ReturnType<typeof rpcSettings>>,
  {
    service,
    clock = systemClock,
    operatorRecord,
    reloads,
  }: {
    readonly service: string;
    readonly clock?: Clock;
    readonly operatorRecord: OperatorRecord;
    readonly reloads: Reloads;
  },
): Omit<RpcServerOptions, 'services' | 'health' | 'log'> {
  const admitting = (publicKeys: string) => ({
    verify: createServiceTokenVerifier({ service, publicKeys, clock }),
    rolesOf: parseRoles(publicKeys),
  });
  let admitted = admitting(config.SERVICE_PUBLIC_KEYS);
  reloads.watch(['SERVICE_PUBLIC_KEYS'], ({ SERVICE_PUBLIC_KEYS: keys }) => {
    admitted = admitting(keys);
  });
  return {
    verifyCaller: (token) => admitted.verify(token),
    operators: { rolesOf: (caller) => admitted.rolesOf(caller), record: operatorRecord },
    host: config.HOST,
    rpcPort: config.RPC_PORT,
    connectPort: config.CONNECT_PORT,
    probePort: config.PROBE_PORT,
    ...(reloads.tls && { tls: reloads.tls }),
  };
}
