import pg from 'pg';

const MOST_TURNS = 40;

/**
 * Makes each statement of a transaction wait for a random number of turns of the event loop, as on a network of varying speed, so that
 * transactions overtake each other. Otherwise those of one process reach the database in the order in which they began.
 */
export function makeNetworkUneven(random: (end: number) => number): Disposable {
  const { query } = pg.Client.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...args: unknown[]) {
    const send = () => Reflect.apply(query, this, args);
    // A pool's own queries have a callback; a transaction awaits its statements.
    return typeof args.at(-1) === 'function' ? send() : waitTurns(random(MOST_TURNS)).then(send);
  } as typeof query;
  return {
    [Symbol.dispose]() {
      pg.Client.prototype.query = query;
    },
  };
}

async function waitTurns(turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
