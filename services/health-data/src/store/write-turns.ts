import type pg from 'pg';

/** Lets so many pass at a time, first come first served. */
class Gate {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(limit: number) {
    this.#free = limit;
  }

  get isIdle(): boolean {
    return this.#free > 0 && this.#waiting.length === 0;
  }

  async pass<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}

interface Writers {
  readonly all: Gate;
  readonly users: Map<string, Gate>;
}

const writersOf = new WeakMap<pg.Pool, Writers>();

/**
 * Runs a write when it is its turn: one at a time for a user, and never more than half of the pool for all of them. Writes
 * wait here and not with a connection in their hands, so however many importers there are, reads find one.
 */
export async function inWriteTurn<T>(pool: pg.Pool, userId: string, write: () => Promise<T>): Promise<T> {
  const { all, users } = getWriters(pool);
  const user = users.get(userId) ?? new Gate(1);
  users.set(userId, user);
  try {
    return await user.pass(() => all.pass(write));
  } finally {
    if (user.isIdle && users.get(userId) === user) users.delete(userId);
  }
}

function getWriters(pool: pg.Pool): Writers {
  const half = Math.max(1, Math.floor(pool.options.max / 2));
  const writers = writersOf.get(pool) ?? { all: new Gate(half), users: new Map() };
  writersOf.set(pool, writers);
  return writers;
}
