import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LoadJob, LoadResult, ReadJob } from './load-job.ts';
import { measureCpu } from './processes.ts';

/** The result of one load interval; `cpu` in seconds by process. */
export interface Round extends LoadResult {
  readonly cpu: Readonly<Record<string, number>>;
}

/** What a stretch may take longer than its load: preparing it, and the last answers. */
const PATIENCE_MS = 60_000;

/** A target of the load, with its processes. */
export interface Side<Job = ReadJob> {
  /** What the load program receives, or a function that is called for each interval, for jobs that use something up. */
  readonly job: Job;
  readonly processes: ReadonlyMap<string, number>;
}

/** A side of any kind of load. */
export type AnySide = Side<LoadJob | (() => Promise<LoadJob>)>;

/**
 * Runs a program of this directory until it is disconnected or this process ends. Detached: a signal from a terminal must reach only this
 * process, which waits for the program's answers. Advanced serialization, because JSON has no NaN, the latency of no requests.
 */
export function forkProgram(file: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
  const options = { detached: true, serialization: 'advanced', env: { ...process.env, ...env } } as const;
  return fork(join(import.meta.dirname, file), options);
}

/** The load program in a process of its own. It runs one job at a time. */
export interface LoadProcess extends Disposable {
  /** Lets the program prepare a job. The returned function starts it and waits for the result. */
  prepare(job: LoadJob): Promise<() => Promise<LoadResult>>;
  run(job: LoadJob): Promise<LoadResult>;
}

export function startLoad(): LoadProcess {
  const program = forkProgram('load.ts');
  const prepare = async (job: LoadJob) => {
    const signal = AbortSignal.timeout(job.seconds * 1000 + PATIENCE_MS);
    const send = async (message: LoadJob | 'start') => {
      program.send(message);
      return (await once(program, 'message', { signal }))[0];
    };
    await send(job);
    return (): Promise<LoadResult> => send('start');
  };
  return {
    prepare,
    run: async (job) => (await prepare(job))(),
    [Symbol.dispose]: () => program.disconnect(),
  };
}

/** Loads sides in alternation, so that noise on the machine affects all. One warm-up round of each is not counted. */
export async function measureInTurn<Name extends string>(
  sides: Readonly<Record<Name, AnySide>>,
  rounds: number,
  say: (line: string) => void,
): Promise<Record<Name, Round>[]> {
  using load = startLoad();
  const results: Record<Name, Round>[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const result: Partial<Record<Name, Round>> = {};
    for (const [name, side] of Object.entries(sides) as [Name, AnySide][])
      result[name] = await measureOnce(load, side);
    if (round > 0) results.push(result as Record<Name, Round>);
    else if (hasFailed(Object.values(result))) throw new Error('a request of the warm-up failed');
    say(round === 0 ? 'warmed up' : `round ${round} of ${rounds}`);
  }
  return results;
}

function hasFailed(stretches: readonly Round[]): boolean {
  return stretches.some(({ failures }) => failures > 0);
}

async function measureOnce(load: LoadProcess, { job: given, processes }: AnySide): Promise<Round> {
  const start = await load.prepare(typeof given === 'function' ? await given() : given);
  const { result, cpu } = await measureCpu(processes, start);
  return { ...result, cpu };
}
