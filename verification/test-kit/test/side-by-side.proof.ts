import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { repositoryRoot } from '@phds/local-stack/data-directory';

const run = promisify(execFile);

/** Files that start Postgres, Redis and servers on leased ports. */
const FILES = ['consent/test/evictions', 'service-kit/test/redis', 'service-kit/test/replicas'];

/** The sources of this checkout with what is installed: hard links where the file system has them. */
async function copyCheckout(to: string): Promise<void> {
  const names = (await readdir(repositoryRoot)).filter((name) => name !== '.git' && name !== '.data');
  const paths = names.map((name) => join(repositoryRoot, name));
  await run('cp', ['-al', ...paths, to]).catch(() => run('cp', ['-a', ...paths, to]));
}

async function runTests(checkout: string): Promise<string> {
  const program = join(checkout, 'verification/test-kit/bin/run-tests.mjs');
  const { stdout } = await run(process.execPath, [program, ...FILES], { cwd: checkout });
  return stdout.trimEnd().split('\n').at(-1) ?? '';
}

test('the suites of two checkouts pass side by side', async () => {
  await using cleanup = new AsyncDisposableStack();
  const other = await mkdtemp(join(tmpdir(), 'phds-checkout-'));
  cleanup.defer(() => rm(other, { recursive: true }));
  await chmod(other, 0o755);
  await copyCheckout(other);
  const results = await Promise.all([repositoryRoot, other].map(runTests));
  expect(results[0]).toMatch(/^jest: [1-9]\d* passed, 0 failed/);
  expect(results[1]).toBe(results[0]);
}, 600_000);
