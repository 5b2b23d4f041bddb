import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * Names a running process in a way that holds after its id was given to another process: the id together with the time at which
 * the process started. Null when no such process runs.
 */
export function identifyProcess(pid: number): string | null {
  const started = process.platform === 'linux' ? readStartOnLinux(pid) : readStartFromPs(pid);
  return started === null ? null : `${pid} ${started}`;
}

/** The identity of this process; where the system does not tell when it started, its id alone, which then names no running process. */
export function identifySelf(): string {
  return identifyProcess(process.pid) ?? String(process.pid);
}

/** Whether the process that `identity` names still runs. */
export function isRunning(identity: string): boolean {
  const pid = Number.parseInt(identity, 10);
  return pid > 0 && identifyProcess(pid) === identity;
}

/** The boot, and the clock ticks from the boot to the start of the process: field 22 of proc_pid_stat(5). */
function readStartOnLinux(pid: number): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // Field 2 is the name of the program in parentheses, and may hold spaces and parentheses itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // A zombie has ended; its parent has not asked for the exit code yet.
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
