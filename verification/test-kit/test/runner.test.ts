import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';

const workspace = resolve(import.meta.dirname, '../../..');
const runner = join(workspace, 'verification/test-kit/bin/run-tests.mjs');

interface Outcome {
  readonly code: number | string | null | undefined;
  /** The lines at the end that name failed tests, and the counts. */
  readonly lastLines: readonly string[];
  readonly output: string;
}

/** Runs test files of the fixtures as a run of its own. */
function runFixtures(
  names: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Outcome> {
  const config = {
    rootDir: join(workspace, 'verification/test-kit'),
    testMatch: names.map((name) => `<rootDir>/test/fixtures/${name}.ts`),
    extensionsToTreatAsEsm: ['.ts'],
    transform: {},
    runner: '<rootDir>/bin/plain-runner.mjs',
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
      const lastLines = `${stderr}${stdout}`.split('\n').filter((line) => /^(failed|jest): /.test(line));
      ended({ code: error === null ? 0 : error.code, lastLines, output: stdout + stderr });
    },
  );
  return promise;
}

describe('tests that need a program', () => {
  test('run where the program is', async () => {
    const { code, lastLines } = await runFixtures(['one-requirement'], {
      CI: 'true',
      FIXTURE_ABACUS: 'there',
    });
    expect([code, lastLines]).toEqual([0, ['jest: 1 passed, 0 failed, 0 skipped']]);
  });

  test('are counted as skipped where the program is missing', async () => {
    const { lastLines } = await runFixtures(['one-requirement'], {});
    expect(lastLines).toEqual(['jest: 0 passed, 0 failed, 1 skipped']);
  });

  test('fail where the program is missing and CI runs', async () => {
    const { code, lastLines, output } = await runFixtures(['one-requirement'], { CI: 'true' });
    expect([code, lastLines.at(-1)]).toEqual([1, 'jest: 0 passed, 1 failed, 0 skipped']);
    expect(output).toContain('There is no Abacus on this machine');
  });
});

test('what hangs, rejects, does not load or does not stop fails, and is named at the end of the log', async () => {
  const { code, lastLines, output } = await runFixtures(['broken-tests', 'unloadable'], {});
  expect(code).toBe(1);
  expect(lastLines.map((line) => line.replace(/\S+fixtures\//, '')).toSorted()).toEqual([
    'failed: broken-tests.ts: a test fails before its resource',
    'failed: broken-tests.ts: a test hangs',
    'failed: broken-tests.ts: a test leaves a rejection',
    'failed: broken-tests.ts: the file fails outside of its tests',
    'failed: unloadable.ts: the file does not load',
    'jest: 3 passed, 5 failed, 0 skipped',
  ]);
  for (const text of [
    'nobody handles this',
    'the hook fails',
    'the shared server does not stop',
    'the test fails first',
    'the resource fails too',
  ])
    expect(output).toContain(text);
});
