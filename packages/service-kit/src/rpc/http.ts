import {
  createServer,
  type Server as HttpServer,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type DescMethod, type DescService, toBinary } from '@bufbuild/protobuf';
import type { ConnectRouter, ServiceImpl } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { ErrorDetailSchema } from '@phds/contracts/phds/common/v1/error_pb';
import { type AppError, toAppError } from '../errors.ts';
import { toConnectError, toErrorDetail } from './errors.ts';
import type { RpcService, UnaryHandler } from './service.ts';
import type { TlsFiles } from './tls.ts';

// With Node's 5 s, the server may close an idle connection just when a caller that was busy for seconds sends its next request.
const KEEP_ALIVE_MS = 75_000;
const DRAIN_LIMIT_MS = 5_000;

/** Limits for every request. */
export interface HttpLimits {
  readonly maxMessageBytes: number;
  readonly maxDeadlineMs: number;
}

/** Serves the rpcs in the Connect protocol over HTTP/1.1 (curl and JSON). With `tls`, callers need a certificate as for gRPC. */
export function createConnectServer(
  services: readonly RpcService[],
  tls: TlsFiles | undefined,
  { maxMessageBytes, maxDeadlineMs }: HttpLimits,
): HttpServer {
  const routes = (router: ConnectRouter) => {
    for (const { descriptor, handlers } of services) {
      router.service(descriptor, connectHandlers(handlers));
    }
  };
  const adapter: RequestListener = connectNodeAdapter({
    routes,
    grpc: false,
    grpcWeb: false,
    readMaxBytes: maxMessageBytes,
    writeMaxBytes: maxMessageBytes,
    maxTimeoutMs: maxDeadlineMs,
  });
  const listener = admittingFirst(services, adapter);
  const options = { requestTimeout: maxDeadlineMs, keepAliveTimeout: KEEP_ALIVE_MS };
  if (tls === undefined) return createServer(options, listener);
  return createSecureServer({ ...options, ...tls, requestCert: true, rejectUnauthorized: true }, listener);
}

/** Refuses callers before their message is read, which connect-node would do first. */
function admittingFirst(services: readonly RpcService[], adapter: RequestListener): RequestListener {
  const rpcs = new Map<string, { method: DescMethod; admit: RpcService['admit'] }>(
    services.flatMap(({ descriptor, admit }) =>
      descriptor.methods.map(
        (method) => [`/${descriptor.typeName}/${method.name}`, { method, admit }] as const,
      ),
    ),
  );
  return (request, response) => {
    const rpc = rpcs.get(request.url?.split('?', 1)[0] ?? '');
    if (rpc === undefined) return adapter(request, response);
    const { authorization = '' } = request.headers;
    rpc.admit({ method: rpc.method, requestHeader: new Headers({ authorization }) }).then(
      () => adapter(request, response),
      (error: unknown) => refuse(response, toAppError(error)),
    );
  };
}

/** An error of the Connect protocol (https://connectrpc.com/docs/protocol#error-end-stream) to a caller that is not admitted. */
function refuse(response: ServerResponse, error: AppError): void {
  const value = Buffer.from(toBinary(ErrorDetailSchema, toErrorDetail(error)))
    .toString('base64')
    .replace(/=+$/, '');
  const body = { code: 'permission_denied', details: [{ type: ErrorDetailSchema.typeName, value }] };
  response.writeHead(403, { 'content-type': 'application/json' }).end(JSON.stringify(body));
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

/** Opens the port and returns its number; 0 picks a free one. */
export function listenHttp(server: HttpServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}

/** Waits a limited time for requests in progress, then closes. */
export function closeHttp(server: HttpServer): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.closeAllConnections(), DRAIN_LIMIT_MS);
    server.close(() => {
      clearTimeout(limit);
      resolve();
    });
    server.closeIdleConnections();
  });
}
