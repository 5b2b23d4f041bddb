import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { queryOnce as query } from '@phds/test-kit/open-client';
import { startEmbeddedPostgres, THROWAWAY_SETTINGS } from '../src/servers/embedded-postgres.ts';

const source = resolve(import.meta.dirname, '../src/servers/embedded-postgres.ts');

describe('an embedded Postgres', () => {
  let directory: string;

  // The tests use one data directory after the other, because its initialisation takes longer than all of them.
  beforeAll(async () => {
    directory = join(await mkdtemp(join(tmpdir(), 'phds-embedded-')), 'data');
  });

  afterAll(() => rm(resolve(directory, '..'), { recursive: true, force: true }));

  function start() {
    return startEmbeddedPostgres({ directory, port: 0, settings: THROWAWAY_SETTINGS });
  }

  test('data survives a stop and a start', async () => {
    const first = await start();
    await query(first.adminUrl, 'CREATE TABLE kept AS SELECT 7 AS n');
    await first.stop();
    await first.stop();
    await using second = await start();
    expect(await query(second.adminUrl, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
  });

  test('the server of a killed process is stopped and its data is used', async () => {
    const script = `
    const { startEmbeddedPostgres } = await import(${JSON.stringify(source)});
    await startEmbeddedPostgres({ directory: ${JSON.stringify(directory)}, port: 0 });
    process.kill(process.pid, 'SIGKILL');`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'ignore' });
    await new Promise((ended) => child.once('exit', ended));
    expect(child.signalCode).toBe('SIGKILL');
    const orphan = Number.parseInt(await readFile(join(directory, 'postmaster.pid'), 'utf8'), 10);
    await using server = await start();
    expect(() => process.kill(orphan, 0)).toThrow('ESRCH');
    expect(await query(server.adminUrl, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
  });

  test('the server of a killed process is stopped even if another process has that process id now', async () => {
    const first = await start();
    await writeFile(join(directory, 'owner.pid'), `${process.pid} an-earlier-boot 1\n`);
    await using second = await start();
    expect(await query(second.adminUrl, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await first.stop();
  });

  test('data of another major version is refused with what to do', async () => {
    const first = await start();
    await first.stop();
    await writeFile(join(directory, 'PG_VERSION'), '12\n');
    await expect(start()).rejects.toThrow(
      /was made by Postgres 12, and this is Postgres \d+\. Use the release/,
    );
  });
});
