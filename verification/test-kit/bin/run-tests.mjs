/**
 * Runs a tier of the tests: `node verification/test-kit/bin/run-tests.mjs [--browser | --proofs] [path fragments and other arguments of
 * jest]`.
 *
 * - no option: `*.test.ts` and `*.test.tsx`: units, services on Postgres, the whole service over HTTP
 * - `--browser`: `*.browser.ts`, the web app in Chromium
 * - `--proofs`: `*.proof.ts`, which kill processes, restore databases or replay histories, and what only CI runs
 *
 * The last lines name each failed test and count: `jest: N passed, N failed, N skipped`. The exit code is Jest's, and 1 when no test ran.
 * Where CI runs (CI=true) it is also 1 when a test was skipped, unless tests were chosen by name.
 */
import { spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

/** The time of a whole tier on two free cores. */
const TIERS = {
  // Installs no program of the system: tests of a program that is missing are skipped.
  '': { title: 'npm test', budgetS: 300, args: [], env: { PHDS_NO_INSTALL: '1' } },
  '--browser': { title: 'pnpm test:browser', budgetS: 240, args: ['--testMatch=**/test/**/*.browser.ts'] },
  // One at a time, because each loads every core.
  '--proofs': {
    title: 'pnpm prove',
    budgetS: 360,
    args: ['--maxWorkers=1', '--testMatch=**/test/**/*.proof.ts'],
  },
};
/** A run of a whole tier that takes this many times its budget says so. */
const TOLERANCE = 1.5;

const workspace = resolve(import.meta.dirname, '../../..');

function requireNode24() {
  if (Number.parseInt(process.versions.node, 10) >= 24) return;
  console.error(`The tests need Node 24; this is ${process.version}. Run them with: npm test`);
  process.exit(1);
}

function runOrExit(script) {
  const { status } = spawnSync(process.execPath, [join(workspace, script)], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

async function runJest(args, outcomeFile) {
  const require = createRequire(join(workspace, 'package.json'));
  const jest = join(dirname(require.resolve('jest/package.json')), 'bin/jest.js');
  // DEP0123: clients of tests connect to 127.0.0.1 with TLS.
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--disable-warning=DEP0123',
    '--max-semi-space-size=8',
  ];
  const child = spawn(process.execPath, [jest, ...args], {
    cwd: workspace,
    stdio: 'inherit',
    env: {
      ...process.env,
      ...tier.env,
      NODE_OPTIONS: [process.env.NODE_OPTIONS, ...flags].filter(Boolean).join(' '),
      PHDS_TEST_OUTCOME_FILE: outcomeFile,
      // Shared by all processes that tests start, because they compile the same sources.
      NODE_COMPILE_CACHE: join(workspace, 'node_modules/.cache/phds-compile'),
    },
  });
  // Ctrl-C in a terminal also reaches Jest. A signal to this process alone is forwarded, and Jest stops the databases.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  const { promise, resolve: ended, reject } = Promise.withResolvers();
  child.once('error', reject);
  child.once('close', (code) => ended(code ?? 1));
  return promise;
}

function readOutcome(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return { passed: 0, failed: 0, skipped: 0, failures: [] };
  }
}

requireNode24();
runOrExit('packages/local-stack/bin/generate.ts');
const directory = mkdtempSync(join(tmpdir(), 'phds-tests-'));
const outcomeFile = join(directory, 'outcome.json');
const given = process.argv.slice(2).filter((arg) => arg !== '--');
const chosen = given.filter((arg) => !(arg in TIERS));
const tier = TIERS[given.find((arg) => arg in TIERS) ?? ''];
const startedAt = performance.now();
// The tier's arguments at the end, because Jest would take paths behind the pattern for further ones.
const code = await runJest([...chosen, ...tier.args], outcomeFile);
const seconds = Math.round((performance.now() - startedAt) / 1000);
const { passed, failed, skipped, failures } = readOutcome(outcomeFile);
rmSync(directory, { recursive: true });
const fault = code === 0 ? findFault() : null;
if (chosen.length === 0) describeTime();
for (const failure of failures) console.error(`failed: ${failure}`);
if (fault !== null) console.error(fault);
console.log(`jest: ${passed} passed, ${failed} failed, ${skipped} skipped`);
process.exit(fault === null ? code : 1);

function describeTime() {
  const isLate = seconds > TOLERANCE * tier.budgetS;
  const budget = `its budget on two free cores is ${tier.budgetS} s`;
  console.log(`${tier.title} took ${seconds} s; ${isLate ? `TOO LONG: ${budget}` : budget}`);
}

/** Why a run without failed tests still fails, or null. */
function findFault() {
  if (passed + failed === 0) return 'No test ran.';
  const chosenByName = chosen.some((arg) => /^(-t|--testNamePattern)(=|$)/.test(arg));
  if (process.env.CI !== 'true' || chosenByName || skipped === 0) return null;
  return `${skipped} tests were skipped. Where CI=true every test has to run.`;
}
