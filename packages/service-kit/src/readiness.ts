import { ConfigError } from './settings/config.ts';
import type { Logger } from './telemetry/log.ts';

const INTERVAL_MS = 2_000;

export interface ReadinessWatchOptions {
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
  const { check, log, ports, onChecked = () => undefined, intervalMs = INTERVAL_MS } = options;
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
