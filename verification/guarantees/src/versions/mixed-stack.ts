import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { ManagedProcess } from '@phds/local-stack/managed-process';
import { findRandomPorts } from '@phds/local-stack/ports';
import {
  type Environment,
  type EnvironmentContext,
  toAuthorizationEnvironment,
  toConsentEnvironment,
  toGatewayEnvironment,
  toHealthDataEnvironment,
  toProbeUrls,
} from '@phds/local-stack/service-environments';
import { type RunningStack, startRunningStack, withPatience } from '@phds/running-system/running-stack';
import { connectPerson, useEverything } from '@phds/running-system/working-system';
import { eventually } from '@phds/test-kit/conditions';
import type { Checkout } from './checkout.ts';

const SERVICES = ['consent', 'authorization', 'health-data', 'gateway'] as const;

type Service = (typeof SERVICES)[number];

const ENVIRONMENTS: Readonly<Record<Service, (context: EnvironmentContext) => Environment>> = {
  consent: toConsentEnvironment,
  authorization: toAuthorizationEnvironment,
  'health-data': toHealthDataEnvironment,
  gateway: (context) => toGatewayEnvironment(context, 0),
};

/**
 * Starts the whole service of this checkout, and each of the four services of the earlier one in turn in the place of the new one: a person
 * approves, and an app reads, refreshes, revokes and is refused, with tokens from before and from after the exchange. Returns what failed.
 */
export async function runMixes(earlier: Checkout, say: (line: string) => void): Promise<string[]> {
  const ports = await findRandomPorts(1);
  await using stack = await startRunningStack({ ports });
  const context: EnvironmentContext = { ports, keys: stack.keys, redisUrl: stack.redis.url };
  const person = await connectPerson(stack, 'connected');
  const failures: string[] = [];
  for (const service of SERVICES) {
    const current = stack.processes.get(service === 'gateway' ? 'gateway-1' : service);
    if (current === undefined) throw new Error(`the stack has no process of ${service}`);
    await current.stop();
    const old = toEarlierProcess({ service, earlier, context, stack });
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

function toEarlierProcess(parts: {
  readonly service: Service;
  readonly earlier: Checkout;
  readonly context: EnvironmentContext;
  readonly stack: RunningStack;
}): ManagedProcess {
  const { service, earlier, context, stack } = parts;
  const { ports } = context;
  const readyUrl =
    service === 'gateway' ? `http://127.0.0.1:${ports.gateways[0]}` : toProbeUrls(ports)[service];
  return new ManagedProcess({
    name: `earlier ${service}`,
    program: relative(repositoryRoot, join(earlier.directory, 'services', service, 'src/main.ts')),
    env: {
      ...ENVIRONMENTS[service](context),
      ...withPatience()[service],
      // The earlier checkout has no built pages.
      WEB_DIRECTORY: join(repositoryRoot, 'packages/web/dist'),
      DOCS_DIRECTORY: join(repositoryRoot, 'packages/docs/dist'),
    },
    readyUrl: `${readyUrl}/readyz`,
    logFile: join(stack.logs, `earlier-${service}.log`),
    notice: () => undefined,
  });
}

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
