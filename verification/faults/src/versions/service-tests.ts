import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Checkout } from './checkout.ts';

/** The result of a service's own tests in a checkout. */
export interface TestResult {
  readonly passed: number;
  /** Titles. */
  readonly failed: readonly string[];
}

interface JestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** Runs the tests of a service as the checkout has them. Throws if they do not run at all. */
export async function testService({ directory }: Checkout, service: string): Promise<TestResult> {
  const output = await mkdtemp(join(tmpdir(), 'phds-versions-'));
  try {
    const file = join(output, 'report.json');
    const words = [`services/${service}/test`, '--json', `--outputFile=${file}`];
    const child = spawn(process.execPath, ['verification/test-kit/bin/run-tests.mjs', ...words], {
      cwd: directory,
      env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
      stdio: 'ignore',
    });
    await new Promise((resolve) => child.once('exit', resolve));
    const report: JestReport = JSON.parse(await readFile(file, 'utf8'));
    return toResult(report);
  } finally {
    await rm(output, { recursive: true, force: true });
  }
}

function toResult({ testResults }: JestReport): TestResult {
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  const failed = results.flatMap(({ status, fullName }) => (status === 'failed' ? [fullName] : []));
  // A file that cannot be loaded has no results of its own.
  const broken = testResults.flatMap(({ name, message, assertionResults }) =>
    assertionResults.length === 0 && message !== '' ? [`${name}: does not run`] : [],
  );
  return {
    passed: results.filter(({ status }) => status === 'passed').length,
    failed: [...failed, ...broken],
  };
}
