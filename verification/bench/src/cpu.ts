import { readdirSync, readFileSync } from 'node:fs';

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
