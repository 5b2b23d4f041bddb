import { createServer, type Server, type ServerResponse } from 'node:http';
import type { Server as NetServer } from 'node:net';
import { ConfigError } from './settings/config.ts';
import type { Logger } from './telemetry/log.ts';
import type { Metrics } from './telemetry/metrics.ts';

const CHECK_INTERVAL_MS = 2_000;

interface ReadinessWatchOptions {
  /** Whether the service is ready, as its probe answers. May reject with the reason why it is not. */
  readonly check: () => Promise<boolean>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Added to the lines of the log. */
  readonly ports: object;
  /** Receives the outcome of each check. */
  readonly onChecked?: (isReady: boolean) => void;
  readonly intervalMs?: number;
}

export interface ReadinessWatch {
  /** Ends with the first check. Rejects with a ConfigError that only a change of the settings can heal. */
  readonly first: Promise<void>;
  stop(): void;
}

/** Checks periodically whether the service is ready. Logs each change: `ready`, or `not ready` with the reason and the settings to check. */
export function watchReadiness(options: ReadinessWatchOptions): ReadinessWatch {
  const { check, log, ports, onChecked = () => undefined, intervalMs = CHECK_INTERVAL_MS } = options;
  let logged: string | undefined;
  let hasStopped = false;
  const update = async () => {
    const reason = await check().then(
      (isReady) => (isReady ? null : new Error('the check failed')),
      (error: unknown) => error,
    );
    if (hasStopped) return null;
    onChecked(reason === null);
    const state =
      reason === null ? 'ready' : `not ready: ${reason instanceof Error ? reason.message : reason}`;
    if (state === logged) return reason;
    logged = state;
    if (reason === null) log.info(ports, 'ready');
    else log.warn({ ...ports, ...toFields(reason) }, 'not ready');
    return reason;
  };
  const timer = setInterval(update, intervalMs);
  timer.unref();
  const first = update().then((reason) => {
    if (reason instanceof ConfigError && !reason.mayHeal) throw reason;
  });
  return {
    first,
    stop() {
      hasStopped = true;
      clearInterval(timer);
    },
  };
}

function toFields(reason: unknown): object {
  return reason instanceof ConfigError ? { problems: reason.problems, err: reason.cause } : { err: reason };
}

const REQUEST_TIMEOUT_MS = 30_000;
const DRAIN_LIMIT_MS = 5_000;

interface ProbeServerOptions {
  /** Whether the service can work now. */
  readonly isReady: () => Promise<boolean>;
  /** Default: /metrics is not served. */
  readonly metrics?: Metrics;
}

/**
 * A port for orchestrators and monitoring, which have no client certificate. /livez reports that the process runs, /readyz that it can
 * work; /metrics has the metrics in Prometheus's text format.
 */
export function createProbeServer({ isReady, metrics }: ProbeServerOptions): Server {
  return createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, async ({ url }, response) => {
    if (url === '/livez') response.writeHead(200).end();
    else if (url === '/readyz') response.writeHead((await isReady().catch(() => false)) ? 200 : 503).end();
    else if (url === '/metrics' && metrics !== undefined) await sendMetrics(response, metrics);
    else response.writeHead(404).end();
  });
}

async function sendMetrics(response: ServerResponse, metrics: Metrics): Promise<void> {
  try {
    const text = await metrics.text();
    response.writeHead(200, { 'Content-Type': metrics.contentType }).end(text);
  } catch {
    // A metric that cannot be read must not end the process.
    response.writeHead(500).end();
  }
}

/** Exports whether the service can work now as `phds_ready`. `canWork` is asked at each scrape, so it answers from memory or at most once a second. */
export function measureReadiness(metrics: Metrics, canWork: () => Promise<boolean> | boolean): void {
  metrics.readGauge({ name: 'phds_ready', help: 'Whether the service can work now: 1 or 0.' }, async () =>
    (await canWork()) ? 1 : 0,
  );
}

/** The host that is every address of the machine, of IPv6 and IPv4. */
export const EVERY_ADDRESS = '::';

/** Opens the port and returns its number; 0 picks a free one. */
export function listenHttp(server: NetServer, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    const listening = () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    };
    // Without a host, Node listens on `::`, or on 0.0.0.0 where the kernel has no IPv6.
    server.listen({ port, ...(host !== EVERY_ADDRESS && { host }) }, listening);
  });
}

/** Waits a limited time for requests in progress, then closes. */
export function closeHttp(
  server: Pick<Server, 'closeAllConnections' | 'closeIdleConnections'> & {
    close(ended: () => void): unknown;
  },
): Promise<void> {
  return new Promise((resolve) => {
    const limit = setTimeout(() => server.closeAllConnections(), DRAIN_LIMIT_MS);
    server.close(() => {
      clearTimeout(limit);
      resolve();
    });
    server.closeIdleConnections();
  });
}
