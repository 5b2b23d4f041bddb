import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { createServiceTokenSource } from '@phds/service-kit/trust/service-token';
import { type FilesOfTest, openFilesOfTest } from '@phds/test-kit/files-of-test';
import { startFakeIngestion } from '../../cli/test/fake-ingestion.ts';
import { lockDataDirectory } from '../src/data-directory.ts';
import { parsePorts } from '../src/ports.ts';
import { seedUntil } from '../src/seed.ts';
import { startStack } from '../src/stack.ts';

let files: FilesOfTest;

beforeEach(() => {
  files = openFilesOfTest();
});

afterEach(() => files[Symbol.dispose]());

test('a start that finds a port taken keeps the data, also with --fresh', async () => {
  const { directory: dataDirectory } = files;
  const key = join(dataDirectory, 'keys/kept.pem');
  await mkdir(join(dataDirectory, 'keys'));
  await writeFile(key, 'kept');
  await using taken = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => taken.once('listening', resolve));
  const { port } = taken.address() as { port: number };
  const ports = parsePorts({ GATEWAY_PORT: String(port) }, 1);
  await expect(startStack({ dataDirectory, ports, fresh: true })).rejects.toThrow(
    `port ${port} (gateway) is taken`,
  );
  expect(existsSync(key)).toBe(true);
});

describe('a data directory', () => {
  test('is reserved by one of many starts at once, until that one ends', async () => {
    const starts = await Promise.allSettled(
      Array.from({ length: 20 }, () => lockDataDirectory(files.directory)),
    );
    const won = starts.filter((start) => start.status === 'fulfilled');
    expect(won).toHaveLength(1);
    await expect(lockDataDirectory(files.directory)).rejects.toThrow(
      `A local stack is already running: it is starting (process ${process.pid}).`,
    );
    await won[0]?.value[Symbol.asyncDispose]();
    await using _next = await lockDataDirectory(files.directory);
  });

  test('that a killed run reserved is free', async () => {
    await writeFile(join(files.directory, 'stack.lock'), `${2 ** 22 + 1} an-earlier-boot 1`);
    await using _lock = await lockDataDirectory(files.directory);
    await expect(lockDataDirectory(files.directory)).rejects.toThrow('already running');
  });
});

test('a later start adds the measurements since the last one, and no appointment twice', async () => {
  await using ingestion = await startFakeIngestion();
  const { SERVICE_PRIVATE_KEY: privateKeyPem = '', HEALTH_DATA_ADDRESS: address = '' } = ingestion.env;
  const tokens = createServiceTokenSource({ service: 'importer', privateKeyPem });
  const file = join(files.directory, 'seed.json');
  await writeFile(file, JSON.stringify({ seededAt: '2026-03-01T10:00:00Z' }));
  const until = new Date('2026-03-04T10:00:00Z');
  await seedUntil(file, address, tokens, until);

  const starts = [...ingestion.readings.values()].map(({ start }) => Number(start?.seconds) * 1000);
  expect(Math.min(...starts)).toBeLessThan(Date.parse('2026-03-01T10:00:00Z'));
  expect(Math.max(...starts)).toBeGreaterThan(Date.parse('2026-03-04T09:00:00Z'));
  expect(Math.min(...starts)).toBeGreaterThan(Date.parse('2026-02-26T00:00:00Z'));
  const kinds = new Set([...ingestion.records.values()].map(({ record }) => record.case));
  expect(kinds).toContain('adherenceEntry');
  expect(kinds).not.toContain('appointment');
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({ seededAt: until.toISOString() });

  ingestion.readings.clear();
  await seedUntil(file, address, tokens, until);
  expect(ingestion.readings.size).toBe(0);
});
