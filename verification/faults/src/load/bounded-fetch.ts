/** Receives the duration of a request, and its description if it took too long. */
export type Watcher = (late: string | null, milliseconds: number) => void;

/** Adds a time limit to `fetch` in this process. A request that exceeds it is reported and rejects. */
export function boundFetch(limitMs: number, watch: Watcher): void {
  const unbounded = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const started = performance.now();
    const signal = AbortSignal.timeout(limitMs);
    try {
      const response = await unbounded(input, { ...init, signal });
      // The same limit applies to reading the body.
      return response;
    } finally {
      const late = signal.aborted
        ? `${init?.method ?? 'GET'} ${toPath(input)} was not answered within ${limitMs} ms`
        : null;
      watch(late, performance.now() - started);
    }
  };
}

// Without ids, which are irrelevant here and sometimes secret.
function toPath(input: Parameters<typeof fetch>[0]): string {
  const url = new URL(input instanceof Request ? input.url : input);
  return url.pathname.replace(/\b(app|apr|grt)_\w+/g, ':id');
}
