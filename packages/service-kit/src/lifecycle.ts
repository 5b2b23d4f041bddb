import './closed-streams.ts';
import type { Logger } from './log.ts';

const SHUTDOWN_LIMIT_MS = 10_000;

/**
 * Runs a service for the life of the process: starts it, and on SIGTERM or SIGINT disposes it within ten seconds. A failed start or
 * an uncaught exception ends the process with status 1, so that its supervisor can restart it.
 */
export async function runService(start: () => Promise<AsyncDisposable>, log: Logger): Promise<void> {
  process.on('uncaughtException', (err) => {
    log.fatal({ err }, 'uncaught exception');
    process.exit(1);
  });
  let service: AsyncDisposable;
  try {
    service = await start();
  } catch (err) {
    log.fatal({ err }, 'start failed');
    process.exit(1);
  }
  let stopping = false;
  const stop = (signal: NodeJS.Signals) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    const limit = setTimeout(() => process.exit(1), SHUTDOWN_LIMIT_MS);
    limit.unref();
    service[Symbol.asyncDispose]().then(
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
