import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Identifies a running process by its id and start time, because ids are reused. Null when no such process runs. */
export function identifyProcess(pid: number): string | null {
  const started = process.platform === 'linux' ? readStartOnLinux(pid) : readStartFromPs(pid);
  return started === null ? null : `${pid} ${started}`;
}

/** The identity of this process. Where the start time is unknown, only its id, which then matches no running process. */
export function identifySelf(): string {
  return identifyProcess(process.pid) ?? String(process.pid);
}

/** Whether the process with this identity is still running. */
export function isRunning(identity: string): boolean {
  const pid = Number.parseInt(identity, 10);
  return pid > 0 && identifyProcess(pid) === identity;
}

/** The boot id and the start time in clock ticks since boot: field 22 of proc_pid_stat(5). */
function readStartOnLinux(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 2 is the program name in parentheses, which may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended, but its parent has not yet read its exit code.
    return fields[0] === 'Z' ? null : `${boot} ${fields[19]}`;
  } catch {
    return null;
  }
}

function readStartFromPs(pid: number): string | null {
  try {
    const output = execFileSync('ps', ['-p', String(pid), '-o', 'lstart='], { encoding: 'utf8' }).trim();
    return output === '' ? null : output;
  } catch {
    return null;
  }
}
