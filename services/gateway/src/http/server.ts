import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '@phds/service-kit/clock';
import type { Express } from 'express';
import type { Config } from '../config.ts';
import { disconnectPipelining, disconnectSlowReaders } from './connection-limits.ts';
import { answerMalformedRequests, refuseWithoutHost } from './malformed-requests.ts';
import { transportHeaders } from './respond.ts';

const HEADERS_TIMEOUT_MS = 10_000;
const REQUEST_TIMEOUT_MS = 20_000;
/** How late the two may fire. Node's default is 30 seconds. */
const TIMEOUTS_CHECK_MS = 1_000;
// Longer than the idle timeout of common load balancers, so that they close idle connections before we do.
const KEEP_ALIVE_MS = 75_000;
const DRAIN_LIMIT_MS = 5_000;
const DRAIN_STEP_MS = 20;

export type ServerConfig = Pick<
  Config,
  | 'HOST'
  | 'PORT'
  | 'PUBLIC_URL'
  | 'MAX_HEADER_BYTES'
  | 'MAX_CONNECTIONS'
  | 'STALLED_CONNECTION_MS'
  | 'MIN_READ_BYTES_PER_SECOND'
>;

export interface HttpServer extends AsyncDisposable {
  readonly port: number;
  /** From now on, each answer ends its connection, so that clients connect elsewhere before the port closes. */
  leave(): void;
}

/** Opens the public port with limits on slow clients. Disposal waits up to five seconds for requests in progress. */
export async function startHttpServer(app: Express, config: ServerConfig, clock: Clock): Promise<HttpServer> {
  const limits = {
    maxHeaderSize: config.MAX_HEADER_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    connectionsCheckingInterval: TIMEOUTS_CHECK_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    // Checked in refuseWithoutHost, whose response has a body.
    requireHostHeader: false,
  };
  const transport = transportHeaders(config);
  let isLeaving = false;
  const server = createServer(limits, (request, response) => {
    if (disconnectPipelining(request, response)) return;
    request.url = toOriginForm(request.url ?? '');
    if (isLeaving) response.shouldKeepAlive = false;
    if (!refuseWithoutHost(request, response, transport)) app(request, response);
  });
  answerMalformedRequests(server, transport, clock);
  server.maxConnections = config.MAX_CONNECTIONS;
  // A slow reader keeps its response in memory.
  server.timeout = config.STALLED_CONNECTION_MS;
  disconnectSlowReaders(server, {
    graceMs: config.STALLED_CONNECTION_MS,
    bytesPerSecond: config.MIN_READ_BYTES_PER_SECOND,
  });
  const listening = Promise.withResolvers<void>();
  server.once('error', listening.reject).listen(config.PORT, config.HOST, () => listening.resolve());
  await listening.promise;
  return {
    port: (server.address() as AddressInfo).port,
    leave: () => {
      isLeaving = true;
    },
    [Symbol.asyncDispose]: () => {
      isLeaving = true;
      return drain(server);
    },
  };
}

/** A client may send a whole URL as target, as to a proxy; its host does not matter here (RFC 9112 3.2.2). */
function toOriginForm(target: string): string {
  const origin = target.startsWith('/') ? null : /^https?:\/\/[^/?#]+/i.exec(target);
  if (origin === null) return target;
  const rest = target.slice(origin[0].length);
  return rest.startsWith('/') ? rest : `/${rest}`;
}

function drain(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  // A busy connection becomes idle after its response and would then be kept alive.
  const step = setInterval(() => server.closeIdleConnections(), DRAIN_STEP_MS);
  const limit = setTimeout(() => server.closeAllConnections(), DRAIN_LIMIT_MS);
  server.close(() => {
    clearInterval(step);
    clearTimeout(limit);
    resolve();
  });
  return promise;
}
