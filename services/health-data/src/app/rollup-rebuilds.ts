import type { RollupStore } from './ports.ts';

export interface RollupRebuilds extends AsyncDisposable {
  /** Asks for one user's rebuild. */
  request(userId: string): void;
}

interface Options {
  readonly rollups: RollupStore;
  /** How long to wait before a walk that failed begins again. Milliseconds. */
  readonly retryMs: number;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
  };
}

/**
 * Rebuilds rollups in the background, one user after the other: at first everybody's that need it, after an upgrade for
 * instance, then those asked for. A rebuild that fails is left for the next start, or for the user's next write. Never
 * keeps the process alive; disposing breaks off the running rebuild, which then has changed nothing.
 */
export function startRollupRebuilds({ rollups, retryMs, log }: Options): RollupRebuilds {
  const stopped = new AbortController();
  const requested = new Set<string>();
  let walked = false;
  let running: Promise<void> | null = null;

  const rebuild = async (userId: string): Promise<number> => {
    try {
      return (await rollups.rebuild(userId, stopped.signal)) ? 1 : 0;
    } catch (err) {
      if (!stopped.signal.aborted) log.warn({ err }, 'rebuilding the rollups of a user failed');
      return 0;
    }
  };
  const walk = async () => {
    let rebuilt = 0;
    for (let after: string | null = ''; after !== null && !stopped.signal.aborted; ) {
      const { userIds, last } = await rollups.findStale(after);
      for (const userId of userIds) if (!stopped.signal.aborted) rebuilt += await rebuild(userId);
      after = last;
    }
    walked = true;
    if (!stopped.signal.aborted) log.info({ rebuilt }, 'rollups are in order');
  };
  const work = async () => {
    if (!walked) await walk();
    for (const userId of requested) {
      if (stopped.signal.aborted) return;
      requested.delete(userId);
      await rebuild(userId);
    }
  };
  const wake = () => {
    if (stopped.signal.aborted || running !== null) return;
    running = work().then(
      () => {
        running = null;
        if (requested.size > 0) wake();
      },
      (err: unknown) => {
        running = null;
        log.warn({ err }, 'looking for rollups to rebuild failed');
      },
    );
  };
  const timer = setInterval(() => {
    if (!walked) wake();
  }, retryMs);
  timer.unref();
  wake();
  return {
    request: (userId) => {
      requested.add(userId);
      wake();
    },
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      stopped.abort();
      await running;
    },
  };
}
