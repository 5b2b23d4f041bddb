import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { findRandomPorts } from '@phds/local-stack/ports';
import {
  createFurtherProcess,
  processOf,
  startRunningStack,
  withPatience,
} from '@phds/running-system/running-stack';
import { connectPerson, useEverything } from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import { Argument, Command } from 'commander';
import { runProof } from '../command.ts';
import { type Checkout, checkOut, findLastMigration, giveMigrations } from './checkout.ts';
import { BUILT_PAGES, proveUpgrade } from './upgrade.ts';

const SERVICES = ['consent', 'authorization', 'health-data', 'gateway'] as const;

/**
 * Starts the whole service of this checkout, and each of the four services of the earlier one in turn in the place of the new one: a person
 * approves, and an app reads, refreshes, revokes and is refused, with tokens from before and from after the exchange. Returns what failed.
 */
async function runMixes(earlier: Checkout, signal: AbortSignal): Promise<string[]> {
  const ports = await findRandomPorts(1);
  await using stack = await startRunningStack({ ports });
  const person = await connectPerson(stack, 'connected');
  const failures: string[] = [];
  for (const service of SERVICES) {
    signal.throwIfAborted();
    const current = processOf(stack, service === 'gateway' ? 'gateway-1' : service);
    await current.stop();
    const old = createFurtherProcess(stack, service, {
      name: `earlier-${service}`,
      ports,
      environment: { ...withPatience()[service], ...BUILT_PAGES },
      checkout: earlier.directory,
    });
    try {
      await old.start();
      await eventually(() => useEverything(person), { timeoutMs: 60_000, intervalMs: 500 });
      say(`${service} of ${earlier.revision} beside the new services: everything works`);
    } catch (error) {
      failures.push(`${service} of ${earlier.revision}: ${(error as Error).message}`);
      say(`${service} of ${earlier.revision} beside the new services: FAILED`);
    } finally {
      await old.stop();
    }
    await current.start();
    await eventually(() => useEverything(person), { timeoutMs: 60_000, intervalMs: 500 });
  }
  return failures;
}

/** The result of a service's own tests in a checkout. */
interface TestResult {
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
async function testService(
  { directory }: Checkout,
  service: string,
  signal: AbortSignal,
): Promise<TestResult> {
  const output = await mkdtemp(join(tmpdir(), 'phds-versions-'));
  try {
    const file = join(output, 'report.json');
    const words = [`services/${service}/test`, '--json', `--outputFile=${file}`];
    const child = spawn(process.execPath, ['verification/test-kit/bin/run-tests.mjs', ...words], {
      cwd: directory,
      env: { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH']}` },
      stdio: 'ignore',
      signal,
    });
    await once(child, 'exit');
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

/** The last release. A clean clone has no tags. */
const lastRelease: { readonly version: string; readonly commit: string } = JSON.parse(
  await readFile(join(repositoryRoot, 'deploy/release/last.json'), 'utf8'),
);

const MIXES = 'mixes';
const UPGRADE = 'upgrade';
const PARTS = [UPGRADE, MIXES, 'authorization', 'consent', 'health-data'];

const command = new Command('pnpm prove:versions')
  .description(
    'Proves that this release follows the last one: it starts on the data that the last one made, each service of the last release works beside the new ones, and, for the last migration of each service, the code before it on the schema after it, and the code after it on the schema before it.',
  )
  .addArgument(
    new Argument(
      '[parts...]',
      'the data of the last release, the services side by side, and the services whose migrations to prove',
    )
      .choices(PARTS)
      .default(PARTS),
  )
  .addHelpText(
    'after',
    '\nThe code after a migration needs the schema after it, so tests fail on the schema before it; they are listed, and break no promise.',
  );

const say = (line: string) => console.log(`  ${line}`);

function print({ passed, failed }: TestResult): void {
  say(`${passed} tests passed, ${failed.length} failed`);
  for (const title of failed) say(`  failed: ${title}`);
}

/** Whether the code before the last migration works on the schema after it. */
async function proveMigration(service: string, signal: AbortSignal): Promise<boolean> {
  const { name, before } = await findLastMigration(service);
  console.log(`${service}: ${name}`);
  await using earlier = await checkOut(before, say);
  await giveMigrations(earlier, service);
  say(`code of ${earlier.revision} on the schema with the migration`);
  const onNewSchema = await testService(earlier, service, signal);
  print(onNewSchema);
  await using current = await checkOut('HEAD', say);
  await giveMigrations(current, service, { without: name });
  say(`code of ${current.revision} on the schema without the migration`);
  print(await testService(current, service, signal));
  return onNewSchema.failed.length === 0;
}

async function proveMixes(signal: AbortSignal): Promise<boolean> {
  console.log('services side by side');
  await using earlier = await checkOut(lastRelease.commit, say);
  const failures = await runMixes(earlier, signal);
  for (const failure of failures) console.log(`VIOLATION ${failure}`);
  return failures.length === 0;
}

async function proveUpgradeOfData(signal: AbortSignal): Promise<boolean> {
  console.log(`from ${lastRelease.version} with data`);
  await using earlier = await checkOut(lastRelease.commit, say);
  try {
    await proveUpgrade(earlier, { say, signal });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    console.log(`VIOLATION ${(error as Error).message}`);
    return false;
  }
}

await runProof(command, async (signal) => {
  let holds = true;
  for (const part of command.processedArgs[0] as readonly string[]) {
    if (part === MIXES) holds = (await proveMixes(signal)) && holds;
    else if (part === UPGRADE) holds = (await proveUpgradeOfData(signal)) && holds;
    else holds = (await proveMigration(part, signal)) && holds;
  }
  return holds;
});
