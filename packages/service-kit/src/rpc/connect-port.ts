import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  createSecureServer,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2';
import type { Server } from 'node:net';
import {
  type ConnectRouter,
  createContextKey,
  createContextValues,
  type HandlerContext,
  type ServiceImpl,
} from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { Metadata } from '@grpc/grpc-js';
import { toAppError } from '../errors.ts';
import { closeHttp } from '../probes.ts';
import { RpcContext, type UnaryHandler } from './context.ts';
import { toConnectError } from './errors.ts';
import type { RpcService } from './service.ts';
import type { TlsFiles } from './tls.ts';

interface ConnectLimits {
  readonly maxMessageBytes: number;
  readonly maxDeadlineMs: number;
}

interface ConnectServer {
  readonly server: Server;
  /** Waits a limited time for calls in progress. */
  close(): Promise<void>;
}

/** Unanswered calls of one connection. */
const MAX_STREAMS = 100;

/** Longer than callers keep an idle connection: a call that meets its end fails. */
const KEEP_ALIVE_MS = 75_000;

const CALLER = createContextKey('');
const PEER = createContextKey('');

/**
 * Serves the unary rpcs in the Connect protocol and in gRPC-Web over HTTP/1.1, and with TLS also over HTTP/2, where gRPC works too. The
 * same handlers admit the same callers as the gRPC port.
 */
export function createConnectServer(
  services: readonly RpcService[],
  tls: TlsFiles | undefined,
  limits: ConnectLimits,
): ConnectServer {
  const handle = createHandler(services, limits);
  if (tls === undefined) {
    const server = createServer(
      { requestTimeout: limits.maxDeadlineMs, keepAliveTimeout: KEEP_ALIVE_MS },
      handle,
    );
    return { server, close: () => closeHttp(server) };
  }
  const toContext = () => ({ ca: tls.ca, cert: tls.cert, key: tls.key });
  const server = createSecureServer(
    {
      ...toContext(),
      requestCert: true,
      rejectUnauthorized: true,
      allowHTTP1: true,
      settings: { maxConcurrentStreams: MAX_STREAMS },
    },
    handle,
  );
  // New connections get the present certificate.
  tls.onChange?.(() => server.setSecureContext(toContext()));
  const sessions = new Set<ServerHttp2Session>();
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  const end = (how: 'close' | 'destroy') => {
    for (const session of sessions) session[how]();
  };
  const parts = {
    close: (ended: () => void) => {
      server.close(ended);
      end('close');
    },
    closeIdleConnections: () => undefined,
    closeAllConnections: () => end('destroy'),
  };
  return { server, close: () => closeHttp(parts) };
}

type Request = IncomingMessage | Http2ServerRequest;
type Response = ServerResponse | Http2ServerResponse;

function createHandler(services: readonly RpcService[], { maxMessageBytes, maxDeadlineMs }: ConnectLimits) {
  const adapter = connectNodeAdapter({
    routes: (router) => {
      for (const service of services) mount(router, service);
    },
    contextValues: ({ socket }) =>
      createContextValues().set(PEER, `${socket.remoteAddress}:${socket.remotePort}`),
    readMaxBytes: maxMessageBytes,
    maxTimeoutMs: maxDeadlineMs,
    acceptCompression: [],
  });
  return (request: Request, response: Response) => {
    try {
      adapter(request as IncomingMessage, response as ServerResponse);
    } catch {
      // It throws for a host that is missing or no part of a URL, which anybody can send.
      (response as ServerResponse).writeHead(400).end();
    }
  };
}

function mount(router: ConnectRouter, { descriptor, handlers, admit }: RpcService): void {
  const implementation: Record<string, unknown> = {};
  for (const [rpc, handler] of handlers) implementation[rpc] = unary(handler);
  // Callers are refused before their message is read; interceptors would run after it is.
  const requestGate = async (call: HandlerContext) => {
    call.values.set(CALLER, await admit(toContext(call)).catch(refuse));
  };
  router.service(descriptor, implementation as Partial<ServiceImpl<RpcService['descriptor']>>, {
    requestGate,
  });
}

function unary(handler: UnaryHandler) {
  return (request: unknown, call: HandlerContext) => {
    const context = toContext(call);
    call.signal.addEventListener('abort', () => context.cancel());
    return handler(request as never, context, call.values.get(CALLER)).catch(refuse);
  };
}

function toContext({ method, requestHeader, timeoutMs, values }: HandlerContext): RpcContext {
  const leftMs = timeoutMs();
  const deadline = leftMs === undefined ? undefined : Date.now() + Math.floor(leftMs);
  return new RpcContext(
    method,
    new Metadata(),
    deadline,
    Object.fromEntries(requestHeader),
    values.get(PEER),
  );
}

function refuse(error: unknown): never {
  throw toConnectError(toAppError(error));
}
