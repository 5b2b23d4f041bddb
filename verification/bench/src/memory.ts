import { readFileSync, writeFileSync } from 'node:fs';

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
