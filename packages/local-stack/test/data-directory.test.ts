import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ensureKeyFiles } from '@phds/service-kit/keys/key-files';
import { findStackFile, lockDataDirectory, writeStackFile } from '../src/data-directory.ts';
import { identifyProcess } from '../src/servers/process-identity.ts';

const DESCRIPTION = {
  process: identifyProcess(process.pid) ?? '',
  gatewayUrl: 'http://localhost:8080',
  rpcAddresses: {
    authorization: '127.0.0.1:7001',
    consent: '127.0.0.1:7002',
    'health-data': '127.0.0.1:7003',
  },
  keys: 'keys',
};

// Larger than any Linux process id.
const NOBODY = 2 ** 22 + 1;

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'phds-stack-'));
});

afterEach(() => rm(directory, { recursive: true, force: true }));

describe('the description of a running stack', () => {
  test('is ignored when its process is gone', async () => {
    await writeStackFile(directory, { ...DESCRIPTION, process: `${NOBODY} 1` });
    expect(findStackFile(directory)).toBeNull();
  });

  test('is ignored when another process has its id now', async () => {
    await writeStackFile(directory, { ...DESCRIPTION, process: `${process.pid} an-earlier-boot 1` });
    expect(findStackFile(directory)).toBeNull();
  });

  test.each(['', '{', 'null', '[]', '{"process":"1"}'])(
    'is ignored when the file contains %j',
    async (content) => {
      await writeFile(join(directory, 'stack.json'), content);
      expect(findStackFile(directory)).toBeNull();
    },
  );
});

describe('a data directory', () => {
  test('is reserved by one of many starts at once, until that one ends', async () => {
    const starts = await Promise.allSettled(Array.from({ length: 20 }, () => lockDataDirectory(directory)));
    const won = starts.filter((start) => start.status === 'fulfilled');
    expect(won).toHaveLength(1);
    await expect(lockDataDirectory(directory)).rejects.toThrow(
      `A local stack is already running: it is starting (process ${process.pid}).`,
    );
    await won[0]?.value[Symbol.asyncDispose]();
    await using _next = await lockDataDirectory(directory);
  });

  test.each(['', '\n', '1', `${NOBODY} an-earlier-boot 1`])(
    'whose lock of a killed run contains %j is reserved by one of many starts at once',
    async (content) => {
      await writeFile(join(directory, 'stack.lock'), content);
      const starts: Promise<AsyncDisposable>[] = [];
      for (let start = 0; start < 20; start += 1) {
        starts.push(lockDataDirectory(directory));
        starts.at(-1)?.catch(() => undefined);
        if (start % 3 === 0) await setImmediate();
      }
      const ends = await Promise.allSettled(starts);
      expect(ends.filter((end) => end.status === 'fulfilled')).toHaveLength(1);
      await expect(lockDataDirectory(directory)).rejects.toThrow('already running');
      expect(await readdir(directory)).toEqual(['stack.lock']);
    },
  );
});

describe('the keys of a stack', () => {
  test('are readable by their owner only', async () => {
    await ensureKeyFiles(directory);
    for (const name of await readdir(directory)) {
      expect([name, (await stat(join(directory, name))).mode & 0o777]).toEqual([name, 0o600]);
    }
  });
});
