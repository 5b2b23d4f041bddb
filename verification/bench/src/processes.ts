// What processes take of the machine. Linux only.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Stack } from '@phds/local-stack/stack';
import { Redis } from 'ioredis';

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

const TICKS_PER_SECOND = 100;

interface Stat {
  readonly parent: number;
  readonly seconds: number;
}

/**
 * CPU seconds (user and system) used so far by a process and all its descendants, including those that have ended. Never decreases
 * while the process runs. Linux only.
 */
export function cpuSeconds(pid: number): number {
  const stats = new Map<number, Stat>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? readStat(Number(entry)) : null;
    if (stat !== null) stats.set(Number(entry), stat);
  }
  const sum = (one: number): number => {
    let seconds = stats.get(one)?.seconds ?? 0;
    for (const [child, { parent }] of stats) if (parent === one) seconds += sum(child);
    return seconds;
  };
  return sum(pid);
}

/** The same of a process without its descendants. */
export function ownCpuSeconds(pid: number): number {
  return readStat(pid)?.seconds ?? 0;
}

/**
 * proc(5): the fields after the command, which may itself contain spaces and parentheses. A process that has ended is counted in
 * `cutime` and `cstime` of its parent (fields 16 and 17).
 */
function readStat(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = fields.slice(11, 15).reduce((total, field) => total + Number(field), 0);
    return { parent: Number(fields[1]), seconds: ticks / TICKS_PER_SECOND };
  } catch {
    return null;
  }
}

/** Peak resident memory of a process in MB, since its start or the last reset; 0 if the process is gone. Linux only. */
export function peakMegabytes(pid: number): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(kilobytes ?? 0) / 1024);
  } catch {
    return 0;
  }
}

/** Resets the peak of a process: proc(5), `clear_refs`. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
