/** Receives how long a request took, and which one it was when that was too long. */
export type Watcher = (late: string | null, milliseconds: number) => void;

/** Gives `fetch` of this process a limit. A request that comes to it is told, and then rejects. */
export function boundFetch(limitMs: number, watch: Watcher): void {
  const unbounded = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const started = performance.now();
    const signal = AbortSignal.timeout(limitMs);
    try {
      const response = await unbounded(input, { ...init, signal });
      // The body belongs to the answer: what reads it is cut off by the same limit.
      return response;
    } finally {
      const late = signal.aborted
        ? `${init?.method ?? 'GET'} ${toPath(input)} was not answered within ${limitMs} ms`
        : null;
      watch(late, performance.now() - started);
    }
  };
}

// Ids do not matter here, and some are capabilities.
function toPath(input: Parameters<typeof fetch>[0]): string {
  const url = new URL(input instanceof Request ? input.url : input);
  return url.pathname.replace(/\b(app|apr|grt)_\w+/g, ':id');
}
