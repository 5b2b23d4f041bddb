export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
  /** Responses other than 2xx, and connection errors. A benchmark with failures is void. */
  readonly failures: number;
}

/**
 * Runs a load program: it receives a job over IPC, prepares it, tells so, starts when it is told to, and returns the result. What
 * preparing costs the service is not measured.
 */
export function serveLoad<Job>(prepare: (job: Job) => Promise<() => Promise<LoadResult>>): void {
  const fail = (error: unknown): LoadResult => {
    console.error(error);
    return { requests: 0, perSecond: 0, p50: 0, p99: 0, failures: 1 };
  };
  let start = async () => fail(new Error('nothing is prepared'));
  process.on('message', async (message: Job | 'start') => {
    if (message === 'start') return void process.send?.(await start().catch(fail));
    start = await prepare(message).catch((error: unknown) => async () => fail(error));
    process.send?.('prepared');
  });
  process.on('disconnect', () => process.exit(0));
}
