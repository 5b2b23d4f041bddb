import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from '@phds/test-kit/conditions';

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

function readStat(pid: number): { state: string; parent: number } | null {
  try {
    // The name, in parentheses, may contain spaces.
    const [state = '', parent] =
      readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? [];
    return { state, parent: Number(parent) };
  } catch {
    return null;
  }
}
