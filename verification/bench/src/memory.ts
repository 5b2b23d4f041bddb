import { readFileSync, writeFileSync } from 'node:fs';

/** Most memory that a process had resident since it started, or since the peak was reset, in MB. 0: it is gone. Linux only. */
export function peakMegabytes(pid: number): number {
  try {
    const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
    return Math.round(Number(kilobytes ?? 0) / 1024);
  } catch {
    return 0;
  }
}

/** Lets the peak of a process begin anew: proc(5), `clear_refs`. */
export function resetPeak(pid: number): void {
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
}
