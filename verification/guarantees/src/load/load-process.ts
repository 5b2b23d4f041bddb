import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LoadOptions, LoadReport } from './load.ts';
import type { Tally } from './reads.ts';

/** Asks the load process to do something. */
export interface LoadCall {
  readonly id: number;
  readonly name: 'prepare' | 'begin' | 'readTally' | 'storm' | 'end';
  readonly argument?: unknown;
}

/** The reply to a call, with its number. */
export interface LoadReply {
  readonly id: number;
  readonly result?: unknown;
  readonly error?: string;
}

/** The load in its own process. */
export interface LoadProcess extends AsyncDisposable {
  /** Starts the load with all counters at zero. */
  begin(): Promise<void>;
  /** The counters so far. */
  readTally(): Promise<Tally>;
  /** Revokes this many tokens at once. */
  storm(tokens: number): Promise<void>;
  /** Lets all people finish, and judges. */
  end(): Promise<LoadReport>;
}

/** Starts the process; everybody is signed in and waits. */
export async function startLoad(options: LoadOptions): Promise<LoadProcess> {
  const child = fork(join(import.meta.dirname, 'main.ts'), { execArgv: [] });
  const call = createCaller(child);
  await call('prepare', options);
  return {
    begin: () => call('begin'),
    readTally: () => call<Tally>('readTally'),
    storm: (tokens) => call('storm', tokens),
    end: () => call<LoadReport>('end'),
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

function createCaller(child: ChildProcess) {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let next = 0;
  child.on('message', ({ id, result, error }: LoadReply) => {
    const call = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) call?.resolve(result);
    else call?.reject(new Error(`the load: ${error}`));
  });
  child.once('exit', (code) => {
    for (const call of waiting.values()) call.reject(new Error(`the load ended with code ${code}`));
  });
  return <T = void>(name: LoadCall['name'], argument?: unknown): Promise<T> => {
    next += 1;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(next, answer);
    child.send({ id: next, name, argument } satisfies LoadCall);
    return answer.promise as Promise<T>;
  };
}
