import { createServer, type Server as HttpServer } from 'node:http';
import type { ServerOptions } from 'node:http2';
import type { AddressInfo } from 'node:net';
import {
  create,
  type DescMessage,
  type DescMethodUnary,
  type DescService,
  fromBinary,
  toBinary,
} from '@bufbuild/protobuf';
import type { ConnectRouter, ServiceImpl } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import {
  type handleUnaryCall,
  type MethodDefinition,
  Server,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { toAppError } from './errors.ts';
import type { Logger } from './log.ts';
import { GrpcHandlerContext } from './rpc-context.ts';
import { toConnectError, toGrpcError } from './rpc-errors.ts';
import type { RpcGuard, RpcService, UnaryHandler } from './rpc-service.ts';
import { serverCredentials, type TlsFiles } from './rpc-tls.ts';
import type { ServiceTokenVerifier } from './service-token.ts';

const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;
const MAX_DEADLINE_MS = 30_000;
const HEALTH_INTERVAL_MS = 2_000;
const DRAIN_LIMIT_MS = 5_000;

/** More than any caller can start. */
const RESETS = 1_000_000;

const SERVER_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  // Callers look the name up again when a connection ends, and only then do they find replicas added since.
  'grpc.max_connection_age_ms': 120_000,
  'grpc.max_connection_age_grace_ms': MAX_DEADLINE_MS,
  // Books that the library keeps of every call, and that nobody reads.
  'grpc.enable_channelz': 0,
};

export interface RpcServerOptions {
  readonly services: readonly ((guard: RpcGuard) => RpcService)[];
  readonly verifyCaller: ServiceTokenVerifier;
  readonly log: Logger;
  readonly host: string;
  /** gRPC; 0 picks a free port. */
  readonly rpcPort: number;
  /** Connect protocol over HTTP/1.1 (curl and JSON); null opens none. */
  readonly httpPort: number | null;
  /** Whether the service can do its work now; grpc.health.v1 and /readyz answer it. */
  readonly health: () => Promise<boolean>;
  readonly tls?: TlsFiles;
}

export interface RpcServer extends AsyncDisposable {
  readonly rpcPort: number;
  readonly httpPort: number | null;
}

/** Serves the rpcs on both wires, with the health service; disposing lets calls in flight finish. */
export async function startRpcServer(options: RpcServerOptions): Promise<RpcServer> {
  const services = options.services.map((build) => build(options));
  const health = new HealthImplementation({ '': 'NOT_SERVING' });
  const grpc = new Server(SERVER_OPTIONS);
  tolerateResets(grpc);
  for (const service of services) mountGrpc(grpc, service);
  health.addToServer(grpc);
  const rpcPort = await bindGrpc(grpc, options);
  const http = options.httpPort === null ? null : await listenHttp(services, options, options.httpPort);
  const watch = watchHealth(health, options.health);
  await watch.first;
  return {
    rpcPort,
    httpPort: http === null ? null : (http.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      watch.stop();
      health.setStatus('', 'NOT_SERVING');
      await Promise.all([closeGrpc(grpc), http === null ? undefined : closeHttp(http)]);
    },
  };
}

function mountGrpc(server: Server, { descriptor, handlers }: RpcService): void {
  const definition: Record<string, MethodDefinition<object, object>> = {};
  const implementation: UntypedServiceImplementation = {};
  for (const method of descriptor.methods as DescMethodUnary[]) {
    const handler = handlers.get(method.localName);
    if (handler === undefined) continue;
    definition[method.localName] = {
      path: `/${descriptor.typeName}/${method.name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (message) => encode(method.input, message),
      requestDeserialize: (bytes: Buffer) => fromBinary(method.input, bytes),
      responseSerialize: (message) => encode(method.output, message),
      responseDeserialize: (bytes: Buffer) => fromBinary(method.output, bytes),
    };
    implementation[method.localName] = unaryCall(method, handler);
  }
  server.addService(definition, implementation);
}

function unaryCall(method: DescMethodUnary, handler: UnaryHandler): handleUnaryCall<object, object> {
  return (call, callback) => {
    const context = new GrpcHandlerContext(method, call.metadata, call.getDeadline());
    call.on('cancelled', () => context.cancel());
    handler(call.request as never, context).then(
      (response) => callback(null, response),
      (error: unknown) => callback(toGrpcError(toAppError(error))),
    );
  };
}

/** grpc-js insists on a Buffer; this is a view, not a copy. */
function encode(schema: DescMessage, message: object): Buffer {
  const bytes = toBinary(schema, create(schema, message as Record<string, unknown>));
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * Lets callers give up on as many calls as they like. Node's HTTP/2 server ends a connection after a thousand resets, and 33 a second
 * (CVE-2023-44487): when something hangs, deadlines reset that many, and every other call of the connection would fail with them.
 * Who gets this far is a service of ours. grpc-js has no option for it and hands these to `http2.createServer`; a test holds that.
 */
function tolerateResets(server: Server): void {
  const { commonServerOptions } = server as unknown as { commonServerOptions: ServerOptions };
  Object.assign(commonServerOptions, { streamResetBurst: RESETS, streamResetRate: RESETS });
}

function bindGrpc(server: Server, { host, rpcPort, tls }: RpcServerOptions): Promise<number> {
  return new Promise((resolve, reject) => {
    server.bindAsync(`${host}:${rpcPort}`, serverCredentials(tls), (error, port) =>
      error === null ? resolve(port) : reject(error),
    );
  });
}

async function listenHttp(
  services: readonly RpcService[],
  options: RpcServerOptions,
  port: number,
): Promise<HttpServer> {
  const routes = (router: ConnectRouter) => {
    for (const { descriptor, handlers } of services) {
      router.service(descriptor, connectHandlers(handlers));
    }
  };
  const adapter = connectNodeAdapter({
    routes,
    grpc: false,
    grpcWeb: false,
    readMaxBytes: MAX_MESSAGE_BYTES,
    writeMaxBytes: MAX_MESSAGE_BYTES,
    maxTimeoutMs: MAX_DEADLINE_MS,
    fallback: (request, response) => void answerProbe(request.url, options.health, response),
  });
  const server = createServer({ requestTimeout: MAX_DEADLINE_MS }, adapter);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, options.host, resolve);
  });
  return server;
}

/** /livez says the process runs, /readyz that it can do its work. */
async function answerProbe(url: string | undefined, health: () => Promise<boolean>, response: ProbeResponse) {
  if (url === '/livez') response.writeHead(200).end();
  else if (url === '/readyz') response.writeHead((await health().catch(() => false)) ? 200 : 503).end();
  else response.writeHead(404).end();
}

function connectHandlers(handlers: ReadonlyMap<string, UnaryHandler>): Partial<ServiceImpl<DescService>> {
  const implementation: Record<string, UnaryHandler> = {};
  for (const [name, handler] of handlers) {
    implementation[name] = (request, context) =>
      handler(request, context).catch((error: unknown) => {
        throw toConnectError(toAppError(error));
      });
  }
  return implementation as unknown as Partial<ServiceImpl<DescService>>;
}

interface ProbeResponse {
  writeHead(status: number): ProbeResponse;
  end(): unknown;
}

/** Asks the service at an interval, since grpc.health.v1 is told rather than asked. */
function watchHealth(health: HealthImplementation, check: () => Promise<boolean>) {
  const update = async () => {
    const ok = await check().catch(() => false);
    health.setStatus('', ok ? 'SERVING' : 'NOT_SERVING');
  };
  const timer = setInterval(update, HEALTH_INTERVAL_MS);
  timer.unref();
  return { first: update(), stop: () => clearInterval(timer) };
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

function closeHttp(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.closeAllConnections(), DRAIN_LIMIT_MS);
    server.close(() => {
      clearTimeout(limit);
      resolve();
    });
    server.closeIdleConnections();
  });
}
