import './rpc/closed-streams.ts';
import { setTimeout as sleep } from 'node:timers/promises';
import { refuseUnsafeNode } from './node-version.ts';
import { ConfigError } from './settings/config.ts';
import { createLogger, type Logger } from './telemetry/log.ts';
import { Metrics } from './telemetry/metrics.ts';

const SHUTDOWN_LIMIT_MS = 10_000;

/** A started service. Disposal refuses new requests and waits for those in progress. */
export interface RunningService extends AsyncDisposable {
  /** Reports from now on that the service is not ready. It still serves every request. */
  leave(): void;
}

/** What `runService` needs of the settings of a service. */
interface ProcessSettings {
  readonly LOG_LEVEL: string;
  /** How long the service still serves after SIGTERM, while it reports that it is not ready. Milliseconds. */
  readonly SHUTDOWN_DELAY_MS: number;
}

interface ProcessParts {
  readonly log: Logger;
  readonly metrics: Metrics;
}

/**
 * Runs a service for the life of the process: reads its settings, starts it, and stops it on SIGTERM or SIGINT. After SIGTERM it first
 * reports that it is not ready and serves until callers and balancers had time to notice; a second signal ends this time. Then it is
 * disposed, and the last spans are exported, within ten seconds. Settings that cannot be used, another failed start or an uncaught
 * exception end the process with status 1, so that its supervisor can restart it.
 */
export async function runService<Config extends ProcessSettings>(
  name: string,
  readEnvironment: (env: NodeJS.ProcessEnv) => Config,
  start: (config: Config, parts: ProcessParts) => Promise<RunningService>,
): Promise<void> {
  let log = createLogger({ service: name });
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'uncaught exception');
    process.exit(1);
  });
  const spans = new AsyncDisposableStack();
  let service: RunningService;
  let shutdownDelayMs: number;
  try {
    refuseUnsafeNode();
    const config = readEnvironment(process.env);
    shutdownDelayMs = config.SHUTDOWN_DELAY_MS;
    log = createLogger({ service: name, level: config.LOG_LEVEL });
    if (process.env['OTEL_EXPORTER_OTLP_ENDPOINT']) {
      const { startTracing } = await import('./telemetry/tracing.ts');
      spans.use(startTracing({ service: name, log }));
    }
    service = await start(config, { log, metrics: new Metrics({ service: name, ofProcess: true }) });
  } catch (error) {
    logFailedStart(error, log);
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

/** One line for all settings that cannot be used: whoever corrects them needs all, and a restarting process repeats no more than that. */
export function logFailedStart(error: unknown, log: Pick<Logger, 'fatal'>): void {
  if (!(error instanceof ConfigError)) {
    log.fatal({ err: error }, 'start failed');
    return;
  }
  const { problems, cause } = error;
  const listed = problems.map(({ setting, reason }) => `${setting}: ${reason}`).join('; ');
  log.fatal(
    { problems, ...(cause === undefined ? {} : { err: cause }) },
    `the configuration is not usable: ${listed}`,
  );
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
