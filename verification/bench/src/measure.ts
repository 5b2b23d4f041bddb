import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '@phds/local-stack/stack';
import { Redis } from 'ioredis';
import { cpuSeconds } from './cpu.ts';
import type { LoadJob } from './load.ts';
import type { LoadResult } from './load-program.ts';

/** The result of one load interval; `cpu` in seconds by process. */
export interface Round extends LoadResult {
  readonly cpu: Readonly<Record<string, number>>;
}

interface Timed {
  readonly seconds: number;
}

/** What a stretch may take longer than its load: preparing it, and the last answers. */
const PATIENCE_MS = 60_000;

/** A target of the load, with its processes. */
export interface Side<Job = LoadJob> {
  /** What the load program receives, or a function that is called for each interval, for jobs that use something up. */
  readonly job: Job;
  readonly processes: ReadonlyMap<string, number>;
}

/** A side of any load program. */
export type AnySide = Side<Timed | (() => Promise<Timed>)>;

/**
 * Runs a program of this directory until it is disconnected or this process ends. Detached: a signal from a terminal must reach only this
 * process, which waits for the program's answers.
 */
export function forkProgram(file: string, env: NodeJS.ProcessEnv = {}): ChildProcess {
  return fork(join(import.meta.dirname, file), { detached: true, env: { ...process.env, ...env } });
}

/** Loads sides in alternation, so that noise on the machine affects all. One warm-up round of each is not counted. */
export async function measureInTurn<Name extends string>(
  sides: Readonly<Record<Name, AnySide>>,
  rounds: number,
  say: (line: string) => void,
  program = 'load.ts',
): Promise<Record<Name, Round>[]> {
  const load = forkProgram(program);
  using cleanup = new DisposableStack();
  cleanup.defer(() => load.disconnect());
  const results: Record<Name, Round>[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const result: Partial<Record<Name, Round>> = {};
    for (const [name, side] of Object.entries(sides) as [Name, AnySide][])
      result[name] = await run(load, side);
    if (round > 0) results.push(result as Record<Name, Round>);
    else if (hasFailed(Object.values(result))) throw new Error('a request of the warm-up failed');
    say(round === 0 ? 'warmed up' : `round ${round} of ${rounds}`);
  }
  return results;
}

function hasFailed(stretches: readonly Round[]): boolean {
  return stretches.some(({ failures }) => failures > 0);
}

async function run(load: ChildProcess, { job: given, processes }: AnySide): Promise<Round> {
  const job = typeof given === 'function' ? await given() : given;
  const start = await prepareLoad(load, job);
  const { result, cpu } = await measureCpu(processes, start);
  return { ...result, cpu };
}

/** Lets a load program prepare a job. The returned function starts it and waits for the result. */
export async function prepareLoad(load: ChildProcess, job: Timed): Promise<() => Promise<LoadResult>> {
  const signal = AbortSignal.timeout(job.seconds * 1000 + PATIENCE_MS);
  const send = async (message: Timed | 'start') => {
    load.send(message);
    return (await once(load, 'message', { signal }))[0];
  };
  await send(job);
  return () => send('start');
}

/** Runs some work and returns its result and the CPU seconds that each process used meanwhile. */
export async function measureCpu<T>(
  processes: ReadonlyMap<string, number>,
  work: () => Promise<T>,
): Promise<{ result: T; cpu: Record<string, number> }> {
  const before = readCpu(processes);
  const result = await work();
  const after = readCpu(processes);
  const used = Object.keys(after).map((name) => [name, (after[name] ?? 0) - (before[name] ?? 0)]);
  return { result, cpu: Object.fromEntries(used) };
}

function readCpu(processes: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...processes].map(([name, pid]) => [name, cpuSeconds(pid)]));
}

/** The processes that handle a data request, by name. */
export async function findProcesses(stack: Stack, dataDirectory: string): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const [name, { pid }] of stack.processes) {
    if (pid !== null && name !== 'identity-provider') found.set(name, pid);
  }
  const [postmaster] = readFileSync(join(dataDirectory, 'postgres', 'postmaster.pid'), 'utf8').split('\n');
  found.set('postgres', Number(postmaster));
  if (stack.redis.url !== null) {
    const redis = new Redis(stack.redis.url);
    const pid = /process_id:(\d+)/.exec(await redis.info('server'))?.[1];
    redis.disconnect();
    if (pid !== undefined) found.set('redis', Number(pid));
  }
  return found;
}
