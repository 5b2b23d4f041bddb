// What processes take of the machine. Linux only.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { askRedis, listTree, readPostgresPid, readStat } from '@phds/guarantees/processes';
import type { Stack } from '@phds/local-stack/stack';

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
  found.set('postgres', readPostgresPid(join(dataDirectory, 'postgres')));
  if (stack.redis.url !== null) found.set('redis', await askRedis(stack.redis.url, 'process_id'));
  return found;
}

/**
 * CPU seconds (user and system) used so far by a process and all its descendants, including those that have ended. Never decreases
 * while the process runs. Linux only.
 */
export function cpuSeconds(pid: number): number {
  return listTree(pid).reduce((sum, each) => sum + ownCpuSeconds(each), 0);
}

/** The same of a process without its descendants. */
function ownCpuSeconds(pid: number): number {
  return readStat(pid)?.seconds ?? 0;
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
