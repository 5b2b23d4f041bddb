import { readdirSync, readFileSync } from 'node:fs';

const TICKS_PER_SECOND = 100;

/** CPU seconds (user and system) used so far by a process and its running descendants. Linux only. */
export function cpuSeconds(pid: number): number {
  const children = new Map<number, number[]>();
  for (const entry of readdirSync('/proc')) {
    const stat = /^\d+$/.test(entry) ? readStat(Number(entry)) : null;
    if (stat !== null) children.set(stat.parent, [...(children.get(stat.parent) ?? []), Number(entry)]);
  }
  const sum = (one: number): number =>
    (readStat(one)?.seconds ?? 0) + (children.get(one) ?? []).reduce((total, child) => total + sum(child), 0);
  return sum(pid);
}

/** proc(5): the fields after the command, which may itself contain spaces and parentheses. */
function readStat(pid: number): { parent: number; seconds: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return {
      parent: Number(fields[1]),
      seconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
    };
  } catch {
    return null;
  }
}
