import { spawnSync } from 'node:child_process';

/** Whether Prometheus's tool for checks is on the PATH. */
export function hasPromtool(): boolean {
  return spawnSync('promtool', ['--version']).error === undefined;
}

/** Runs promtool in a directory. Returns what it printed if it failed, otherwise null. */
export function findProblems(directory: string, ...args: readonly string[]): string | null {
  const { status, stdout, stderr, error } = spawnSync('promtool', args, { cwd: directory, encoding: 'utf8' });
  if (error !== undefined) throw error;
  return status === 0 ? null : `${stdout}${stderr}`;
}
