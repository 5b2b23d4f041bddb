import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@phds/test-kit/conditions';
import { Redis } from 'ioredis';

const TICKS_PER_SECOND = 100;

/** What Linux says of a process. */
interface ProcessStat {
  readonly state: string;
  readonly parent: number;
  /** CPU, user and system, with that of children that have ended. */
  readonly seconds: number;
}

/** proc(5): the fields after the command, which may itself contain spaces and parentheses. Null if the process has ended. */
export function readStat(pid: number): ProcessStat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
    return { state: fields[0] ?? '', parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
  } catch {
    return null;
  }
}

/** Whether a process runs. One that ended and was not waited for does not. */
export function isRunning(pid: number): boolean {
  return readStat(pid)?.state.match(/[ZX]/) === null;
}

/** The process and all its descendants. Those that started a session of their own are included, adopted ones are not. */
export function listTree(pid: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc').filter((each) => /^\d+$/.test(each))) {
    const parent = readStat(Number(name))?.parent;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [pid];
  for (const each of tree) tree.push(...(children.get(each) ?? []));
  return tree;
}

/** Sends a signal to each of the processes that still runs. */
export function signalAll(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids.filter(isRunning)) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

/** Kills the processes and waits until they have ended. */
export async function killAll(pids: readonly number[]): Promise<void> {
  signalAll(pids, 'SIGKILL');
  await eventually(() => !pids.some(isRunning));
}

/** The database server of a data directory, whose sessions are its children. */
export function readPostgresPid(directory: string): number {
  return Number.parseInt(readFileSync(join(directory, 'postmaster.pid'), 'utf8'), 10);
}

/** A number that Redis knows of itself, such as its `process_id`. */
export async function askRedis(url: string, name: string): Promise<number> {
  const redis = new Redis(url);
  const info = await redis.info();
  redis.disconnect();
  return Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
}
