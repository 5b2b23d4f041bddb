import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LoadOptions, LoadReport } from './load.ts';
import type { Answer, Order } from './orders.ts';
import type { Tally } from './tally.ts';

/** The load, in its process. */
export interface LoadProcess extends AsyncDisposable {
  /** Lets it go, counting from nothing. */
  begin(): Promise<void>;
  /** What was counted so far. */
  look(): Promise<Tally>;
  /** Revokes so many tokens at once. */
  storm(tokens: number): Promise<void>;
  /** Lets everybody finish and judges. */
  end(): Promise<LoadReport>;
}

/** Starts it; everybody is signed in and waits. */
export async function startLoad(options: LoadOptions): Promise<LoadProcess> {
  const child = fork(join(import.meta.dirname, 'main.ts'), { execArgv: [] });
  const give = createGiver(child);
  await give({ kind: 'prepare', options });
  return {
    begin: async () => void (await give({ kind: 'begin' })),
    look: async () => (await give({ kind: 'look' })) as Tally,
    storm: async (tokens) => void (await give({ kind: 'storm', tokens })),
    end: async () => (await give({ kind: 'end' })) as LoadReport,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

function createGiver(child: ChildProcess): (order: Order) => Promise<Answer['result']> {
  const waiting = new Map<number, PromiseWithResolvers<Answer['result']>>();
  let next = 0;
  child.on('message', ({ id, result, error }: Answer) => {
    const order = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) order?.resolve(result);
    else order?.reject(new Error(`the load: ${error}`));
  });
  child.once('exit', (code) => {
    for (const order of waiting.values()) order.reject(new Error(`the load ended with code ${code}`));
  });
  return (order) => {
    next += 1;
    const answer = Promise.withResolvers<Answer['result']>();
    waiting.set(next, answer);
    child.send({ id: next, order });
    return answer.promise;
  };
}
