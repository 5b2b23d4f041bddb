import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { cpuSeconds } from '../src/processes.ts';

test('the CPU time of a process includes its running children, and does not decrease when they end', async () => {
  const parent = fork(join(import.meta.dirname, 'burner.mjs'));
  try {
    const pid = parent.pid ?? 0;
    expect(await once(parent, 'message')).toContain('burnt');
    const running = cpuSeconds(pid);
    expect(running).toBeGreaterThanOrEqual(0.3);
    parent.send('end the child');
    expect(await once(parent, 'message')).toContain('ended');
    expect(cpuSeconds(pid)).toBeGreaterThanOrEqual(running);
  } finally {
    parent.kill();
  }
});

test('a process that does not exist has used no CPU time', () => {
  expect(cpuSeconds(0x7fffffff)).toBe(0);
});
