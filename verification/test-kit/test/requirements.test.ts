import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

const workspace = resolve(import.meta.dirname, '../../..');
const runner = join(workspace, 'verification/test-kit/bin/run-tests.mjs');

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'phds-requirements-'));
});
afterAll(() => rm(directory, { recursive: true }));

/** Runs the fixture, a test file that needs an abacus, as a run of its own. */
function runFixture(environment: Readonly<Record<string, string>>): Promise<Outcome> {
  const config = {
    rootDir: join(workspace, 'verification/test-kit'),
    testMatch: ['<rootDir>/test/fixtures/one-requirement.ts'],
    extensionsToTreatAsEsm: ['.ts'],
    transform: {},
    runner: '<rootDir>/bin/plain-runner.mjs',
    cacheDirectory: directory,
    reporters: ['<rootDir>/bin/reporter.mjs'],
  };
  const { CI: _, ...inherited } = process.env;
  const env = { ...inherited, ...environment };
  const { promise, resolve: ended } = Promise.withResolvers<Outcome>();
  execFile(
    process.execPath,
    [runner, '--config', JSON.stringify(config)],
    { env },
    (error, stdout, stderr) => {
      ended({
        passed: error === null,
        lastLine: stdout.trim().split('\n').at(-1) ?? '',
        output: stdout + stderr,
      });
    },
  );
  return promise;
}

interface Outcome {
  readonly passed: boolean;
  readonly lastLine: string;
  readonly output: string;
}

describe('tests that need a program', () => {
  test('run where the program is', async () => {
    const { passed, lastLine } = await runFixture({ CI: 'true', FIXTURE_ABACUS: 'there' });
    expect([passed, lastLine]).toEqual([true, 'jest: 1 passed, 0 failed, 0 skipped']);
  });

  test('are counted as skipped where the program is missing', async () => {
    const { lastLine } = await runFixture({});
    expect(lastLine).toBe('jest: 0 passed, 0 failed, 1 skipped');
  });

  test('fail where the program is missing and CI runs', async () => {
    const { passed, lastLine, output } = await runFixture({ CI: 'true' });
    expect([passed, lastLine]).toEqual([false, 'jest: 0 passed, 1 failed, 0 skipped']);
    expect(output).toContain('There is no Abacus on this machine');
  });
});
