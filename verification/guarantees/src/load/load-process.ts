import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LoadOptions, LoadReport } from './load.ts';
import type { Tally } from './reads.ts';

/** Commands to the load process. */
export type LoadCommand =
  | { readonly kind: 'prepare'; readonly options: LoadOptions }
  | { readonly kind: 'begin' }
  | { readonly kind: 'readTally' }
  | { readonly kind: 'storm'; readonly tokens: number }
  | { readonly kind: 'end' };

/** The reply to a command, with its number. */
export interface LoadReply {
  readonly id: number;
  readonly result?: LoadReport | Tally | undefined;
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
  const send = createSender(child);
  await send({ kind: 'prepare', options });
  return {
    begin: async () => void (await send({ kind: 'begin' })),
    readTally: async () => (await send({ kind: 'readTally' })) as Tally,
    storm: async (tokens) => void (await send({ kind: 'storm', tokens })),
    end: async () => (await send({ kind: 'end' })) as LoadReport,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.disconnect();
      await ended;
    },
  };
}

function createSender(child: ChildProcess): (command: LoadCommand) => Promise<LoadReply['result']> {
  const waiting = new Map<number, PromiseWithResolvers<LoadReply['result']>>();
  let next = 0;
  child.on('message', ({ id, result, error }: LoadReply) => {
    const command = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) command?.resolve(result);
    else command?.reject(new Error(`the load: ${error}`));
  });
  child.once('exit', (code) => {
    for (const command of waiting.values()) command.reject(new Error(`the load ended with code ${code}`));
  });
  return (command) => {
    next += 1;
    const answer = Promise.withResolvers<LoadReply['result']>();
    waiting.set(next, answer);
    child.send({ id: next, command });
    return answer.promise;
  };
}
