import './rpc/closed-streams.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { OriginContextManager } from './telemetry/current-origin.ts';
import type { Logger } from './telemetry/log.ts';
import { startTracing, type TracingOptions } from './telemetry/tracing.ts';

const SHUTDOWN_LIMIT_MS = 10_000;

/** A started service. Disposal refuses new requests and waits for those in progress. */
export interface RunningService extends AsyncDisposable {
  /** Reports from now on that the service is not ready. It still serves every request. */
  leave(): void;
}

export interface LifecycleOptions {
  readonly log: Logger;
  /** How long the service still serves after SIGTERM, while it reports that it is not ready. Milliseconds. */
  readonly shutdownDelayMs: number;
  /** What `toTracingOptions` makes of the settings; null for no traces. */
  readonly tracing: Omit<TracingOptions, 'contextManager' | 'log'> | null;
}

/**
 * Runs a service for the life of the process: starts it, and stops it on SIGTERM or SIGINT. After SIGTERM it first reports that it is not
 * ready and serves until callers and balancers had time to notice; a second signal ends this time. Then it is disposed, and the last spans
 * are exported, within ten seconds. A failed start or an uncaught exception ends the process with status 1, so that its supervisor can
 * restart it.
 */
export async function runService(
  start: () => Promise<RunningService>,
  { log, shutdownDelayMs, tracing }: LifecycleOptions,
): Promise<void> {
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'uncaught exception');
    process.exit(1);
  });
  const spans = new AsyncDisposableStack();
  let service: RunningService;
  try {
    if (tracing !== null) {
      spans.use(await startTracing({ ...tracing, contextManager: new OriginContextManager(), log }));
    }
    service = await start();
  } catch (err) {
    log.fatal({ err }, 'start failed');
    process.exit(1);
  }
  const hurry = new AbortController();
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) return hurry.abort();
    stopping = true;
    const delayMs = signal === 'SIGTERM' ? shutdownDelayMs : 0;
    log.info({ signal, delayMs }, 'stopping');
    stopService(service, { delayMs, signal: hurry.signal, onDisposal: limitDisposal })
      .then(() => spans.disposeAsync())
      .then(
        () => process.exit(0),
        (err: unknown) => {
          log.error({ err }, 'stopping failed');
          process.exit(1);
        },
      );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
}

function limitDisposal(): void {
  setTimeout(() => process.exit(1), SHUTDOWN_LIMIT_MS).unref();
}

/** Lets the service leave, waits for the delay or the signal, and disposes it. */
export async function stopService(
  service: RunningService,
  options: {
    readonly delayMs: number;
    readonly signal: AbortSignal;
    /** Called when the delay has elapsed. */
    readonly onDisposal: () => void;
  },
): Promise<void> {
  service.leave();
  if (options.delayMs > 0) {
    await sleep(options.delayMs, undefined, { signal: options.signal }).catch(() => undefined);
  }
  options.onDisposal();
  await service[Symbol.asyncDispose]();
}
