/** Aborted by the first Ctrl-C or request to end; further ones change nothing, the end is on its way. */
export function listenForSignals(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => controller.abort(new Error(`interrupted by ${name}`)));
  }
  return controller.signal;
}

/** Settles when the signal is aborted, at once if it already is. */
export function untilAborted(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  if (signal.aborted) resolve();
  signal.addEventListener('abort', () => resolve(), { once: true });
  return promise;
}
