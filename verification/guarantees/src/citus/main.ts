import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { repositoryRoot } from '@phds/local-stack/data-directory';
import { CITUS_VARIABLE } from '@phds/test-kit/citus';
import { Argument, Command } from 'commander';
import { parseSeconds, runProof } from '../command.ts';
import { boundFetch } from '../load/wire.ts';
import { runSuite, summarize, toSummaryLines } from '../suite.ts';
import { controlCluster, NODES } from './cluster.ts';
import { CITUS_FAULTS } from './faults.ts';

const ANSWER_LIMIT_MS = 15_000;

/** Tests about plans and shared statements of one server. */
const OF_ONE_SERVER = 'health-data/test/(statements|plans|costs|newest-pages)\\.test';

/** Tests that run on the cluster: paths, and settings. */
const TESTS: Readonly<Record<string, readonly [paths: readonly string[], env?: Record<string, string>]>> = {
  stores: [['services/health-data/test']],
  endpoints: [
    ['endpoints-answers', 'imports', 'sdk-sync', 'webhooks', 'people-and-operators'].map(
      (name) => `verification/e2e/test/${name}`,
    ),
  ],
  revocation: [['verification/e2e/test/revocation'], { E2E_REVOCATIONS: '20' }],
};

const PARTS = [...Object.keys(TESTS), ...CITUS_FAULTS.map(({ name }) => name)];

const command = new Command('pnpm prove:citus')
  .description(
    'Runs health-data on a Citus cluster: docs/operations/deploy.md#health-data-on-several-servers.',
  )
  .addArgument(new Argument('[parts...]', 'what is proved').choices(PARTS).default(PARTS))
  .option('--seconds <n>', 'how long a worker is away', parseSeconds, 20);

/** Runs tests on the cluster and returns the last line, with the numbers of those that passed. */
async function runTests(paths: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const program = join(repositoryRoot, 'verification/test-kit/bin/run-tests.mjs');
  const args = [program, '--maxWorkers=1', ...paths, `--testPathIgnorePatterns=${OF_ONE_SERVER}`];
  const child = spawn(process.execPath, args, {
    env: { ...process.env, ...env, [CITUS_VARIABLE]: NODES },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let last = '';
  for await (const text of child.stdout.setEncoding('utf8')) last = `${last}${text}`.slice(-1_000);
  return last.trimEnd().split('\n').at(-1) ?? '';
}

await runProof(command, async (signal) => {
  const parts: readonly string[] = command.processedArgs[0];
  const { seconds } = command.opts<{ seconds: number }>();
  await controlCluster('start');
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(() => controlCluster('stop'));
  const table: Record<string, string> = {};
  let isKept = true;
  for (const [name, [paths, env]] of Object.entries(TESTS).filter(([each]) => parts.includes(each))) {
    signal.throwIfAborted();
    table[name] = await runTests(paths, env);
    isKept &&= / 0 failed/.test(table[name]);
    console.log(`${name}: ${table[name]}`);
  }
  const faults = CITUS_FAULTS.filter(({ name }) => parts.includes(name));
  if (faults.length > 0) {
    boundFetch(ANSWER_LIMIT_MS, () => undefined);
    process.env[CITUS_VARIABLE] = NODES;
    const verdicts = await runSuite({ faults, milliseconds: seconds * 1000, print: console.log, signal });
    for (const { fault, load, imported, recoveryMs, violations } of verdicts) {
      const { tally } = load;
      const statuses = Object.entries(tally.reads).map(([status, count]) => `${status}: ${count}`);
      table[fault] =
        `${violations.length} violations; reads ${statuses.join(', ')}; ${tally.trials} after a revocation; ${imported} readings; recovered in ${recoveryMs?.toFixed(0)} ms`;
    }
    const summary = summarize(verdicts);
    for (const line of toSummaryLines(summary)) console.log(line);
    isKept &&= summary.violations.length === 0;
  }
  console.log(
    Object.entries(table)
      .map(([name, text]) => `${name.padEnd(16)} ${text}`)
      .join('\n'),
  );
  return isKept;
});
