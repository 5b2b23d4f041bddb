import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { isFree } from '../src/servers/leased-ports.ts';

const running: AsyncDisposable[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) await each[Symbol.asyncDispose]();
});

function startProcess(...args: string[]) {
  const child = fork(join(import.meta.dirname, 'fixtures/port-taker.ts'), args);
  const ended = once(child, 'exit');
  const kill = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  running.push({ [Symbol.asyncDispose]: kill });
  const lease = async (count: number): Promise<number[]> => {
    const answered = once(child, 'message');
    child.send(count);
    return (await answered)[0];
  };
  return { lease, kill };
}

test('processes that lease ports at the same time, more than a block each, never get the same port', async () => {
  const processes = Array.from({ length: 4 }, () => startProcess(String(process.pid)));
  const leased = await Promise.all(processes.map(({ lease }) => lease(100)));
  expect(new Set(leased.flat()).size).toBe(400);
});

test('the block of a killed process is free', async () => {
  const { lease, kill } = startProcess();
  const [port = 0] = await lease(1);
  expect(await isFree(port - 1)).toBe(false);
  await kill();
  expect(await isFree(port - 1)).toBe(true);
});

test('a port of the block on which a stranger listens is left out', async () => {
  const { lease } = startProcess();
  const [port = 0] = await lease(1);
  await using stranger = createServer().listen(port + 1, '127.0.0.1');
  await once(stranger, 'listening');
  expect(await lease(5)).toEqual([2, 3, 4, 5, 6].map((distance) => port + distance));
});
