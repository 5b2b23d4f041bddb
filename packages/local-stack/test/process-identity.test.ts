import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { identifyProcess, isRunning } from '../src/servers/process-identity.ts';

describe('the identity of a process', () => {
  test('is constant while the process runs, and invalid after it ends', async () => {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume()'], {
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    await once(child, 'spawn');
    const identity = identifyProcess(child.pid ?? 0);
    expect(identity).toMatch(new RegExp(`^${child.pid} .+`));
    expect(isRunning(identity ?? '')).toBe(true);
    child.stdin.end();
    await once(child, 'exit');
    expect(isRunning(identity ?? '')).toBe(false);
  });

  test('differs from that of another process with the same id', () => {
    const identity = identifyProcess(process.pid) ?? '';
    expect(isRunning(identity)).toBe(true);
    expect(isRunning(`${identity}0`)).toBe(false);
  });

  test.each(['', 'nobody', '0', '-1', '99999999 x', `${process.pid}`])('names no process: %j', (text) => {
    expect(isRunning(text)).toBe(false);
  });
});
