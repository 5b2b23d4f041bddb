import type { RollupStore } from './ports.ts';

export interface RollupRebuilds extends AsyncDisposable {
  /** Requests the rebuild of one user's rollups. */
  request(userId: string): void;
}

interface Options {
  readonly rollups: RollupStore;
  /** Milliseconds between two walks through all users. */
  readonly intervalMs: number;
  readonly log: { info(fields: object, message: string): void };
  /** By what a task does: receives the error of a failed run. */
  readonly failureOf: (task: string) => (error: unknown) => void;
}

const USERS_AT_ONCE = 1_000;

// Delay before a failed walk is repeated, for example after a database outage.
const RETRY_MS = 30_000;

/**
 * Rebuilds rollups in the background, one user after the other: at start-up and periodically those of all users who need it, for
 * example after an upgrade, and requested ones in between. A failed rebuild is repeated by the next walk, or made unnecessary by
 * the user's next write. Never keeps the process alive. Disposal aborts the running rebuild, which then has changed nothing.
 */
export function startRollupRebuilds({ rollups, intervalMs, log, failureOf }: Options): RollupRebuilds {
  const stopped = new AbortController();
  const { signal } = stopped;
  const requested = new Set<string>();
  let due = true;
  let running: Promise<void> | null = null;

  const onLookFailure = failureOf('looking for rollups to rebuild');
  const onRebuildFailure = failureOf('rebuilding the rollups of a user');
  const rebuild = (userId: string) => rebuildOne(rollups, userId, signal, onRebuildFailure);
  const work = async () => {
    if (due) {
      const rebuilt = await rebuildStale(rollups, rebuild, signal);
      due = false;
      if (!signal.aborted) log.info({ rebuilt }, 'rollups checked');
    }
    for (const userId of requested) {
      requested.delete(userId);
      await rebuild(userId);
    }
  };
  const wake = () => {
    if (signal.aborted || running !== null) return;
    running = work().then(
      () => {
        running = null;
        if (requested.size > 0) wake();
      },
      (error: unknown) => {
        running = null;
        onLookFailure(error);
      },
    );
  };
  const timers = [
    setInterval(() => {
      due = true;
      wake();
    }, intervalMs),
    setInterval(() => {
      if (due) wake();
    }, RETRY_MS),
  ];
  for (const timer of timers) timer.unref();
  wake();
  return {
    request: (userId) => {
      requested.add(userId);
      wake();
    },
    async [Symbol.asyncDispose]() {
      for (const timer of timers) clearInterval(timer);
      stopped.abort();
      await running;
    },
  };
}

/** Returns the number of users. */
async function rebuildStale(
  rollups: RollupStore,
  rebuild: (userId: string) => Promise<boolean>,
  signal: AbortSignal,
): Promise<number> {
  let rebuilt = 0;
  for (let after: string | null = ''; after !== null && !signal.aborted; ) {
    const { userIds, last } = await rollups.findStale(after, USERS_AT_ONCE);
    for (const userId of userIds) if (await rebuild(userId)) rebuilt += 1;
    after = last;
  }
  return rebuilt;
}

async function rebuildOne(
  rollups: RollupStore,
  userId: string,
  signal: AbortSignal,
  onFailure: (error: unknown) => void,
): Promise<boolean> {
  if (signal.aborted) return false;
  try {
    return await rollups.rebuild(userId, signal);
  } catch (error) {
    if (!signal.aborted) onFailure(error);
    return false;
  }
}
