/**
 * Runs the tests that depend on the date with the clock of every process at other instants: every hour of a day, the two days of a
 * clock change in Europe/Berlin, 31 December and 29 February. About 20 minutes on two cores. Exits with 1 when a test fails.
 */
import { spawn } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { prepareFakeClock, toFakeClockEnvironment } from '../src/fake-system-clock.ts';
import { DATE_SUITES, everyHourOf, type Suite, TELLING_INSTANTS } from '../src/hours.ts';

interface Outcome {
  readonly passed: number;
  readonly problems: readonly string[];
  readonly log: string;
}

interface JestFile {
  readonly name: string;
  readonly message: string;
  readonly assertionResults: readonly {
    readonly status: string;
    readonly fullName: string;
    readonly failureMessages: readonly string[];
  }[];
}

const LIMIT_MS = 10 * 60_000;
const ALL_LIMIT_MS = 60 * 60_000;
const runner = resolve(import.meta.dirname, 'run-tests.mjs');

const { day, at, all } = new Command('pnpm prove:hours')
  .option('--day <date>', 'run at every hour of this day (UTC) instead; may be repeated', addHoursOf, [])
  .option('--at <instant>', 'run at this instant instead; may be repeated', addInstant, [])
  .option('--all', 'run every test, not only those that depend on the date', false)
  .parse()
  .opts<{ day: number[]; at: number[]; all: boolean }>();
const instants = day.length + at.length === 0 ? TELLING_INSTANTS : [...day, ...at];
const suites: readonly Suite[] = all ? [{ files: [] }] : DATE_SUITES;
const logs = await mkdtemp(join(tmpdir(), 'phds-hours-'));
const libraries = await prepareFakeClock(logs, (text) => console.log(text));
process.exitCode = (await runAll()) ? 0 : 1;

async function runAll(): Promise<boolean> {
  const startedAt = performance.now();
  let wrong = 0;
  for (const instant of instants) {
    const began = performance.now();
    const outcomes = await Promise.all(suites.map((suite, index) => runSuite(suite, instant, index)));
    const problems = outcomes.flatMap((outcome) => outcome.problems);
    const passed = outcomes.reduce((sum, outcome) => sum + outcome.passed, 0);
    const verdict = problems.length === 0 ? 'ok    ' : 'FAILED';
    console.log(
      `${toText(instant)}  ${verdict}  ${passed} passed, ${problems.length} wrong  (${since(began)} s)`,
    );
    for (const problem of problems) console.log(problem.replaceAll(/^/gm, '    '));
    if (problems.length > 0) for (const { log } of outcomes) console.log(`    log: ${log}`);
    if (problems.length > 0) wrong += 1;
  }
  const result = wrong === 0 ? 'every one passed' : `${wrong} failed`;
  console.log(`hours: ${instants.length} instants, ${result} (${since(startedAt)} s)`);
  return wrong === 0;
}

async function runSuite({ files }: Suite, instant: number, index: number): Promise<Outcome> {
  const base = join(logs, `${toText(instant).replaceAll(/\W/g, '')}-${index}`);
  const [log, report] = [`${base}.log`, `${base}.json`];
  const workers = all ? [] : ['--maxWorkers=1'];
  const args = [...files, ...workers, '--json', `--outputFile=${report}`];
  const code = await run(args, instant, log);
  const results = await readReport(report);
  if (results === null) return { passed: 0, problems: [`the run ended with ${code} and no report`], log };
  const tests = results.flatMap((file) => file.assertionResults);
  const failures = tests
    .filter(({ status }) => status === 'failed')
    .map(({ fullName, failureMessages }) => [fullName, ...failureMessages].join('\n'));
  const unloaded = results
    .filter((file) => file.assertionResults.length === 0)
    .map((file) => `${file.name} did not load`);
  const empty = files.filter((file) => !passedIn(file, results)).map((file) => `${file}: no test passed`);
  const problems = [...failures, ...unloaded, ...empty];
  const others = code !== 0 && problems.length === 0 ? [`the run ended with ${code}`] : [];
  return {
    passed: tests.filter(({ status }) => status === 'passed').length,
    problems: [...problems, ...others],
    log,
  };
}

function passedIn(file: string, results: readonly JestFile[]): boolean {
  const result = results.find(({ name }) => name.endsWith(file));
  return result?.assertionResults.some(({ status }) => status === 'passed') ?? false;
}

/** Runs Jest with the clock at an instant. Returns its exit code. */
async function run(args: readonly string[], instant: number, log: string): Promise<number | string> {
  // With CI set, a missing requirement of a test is a failure.
  const env = { ...process.env, CI: 'true', ...toFakeClockEnvironment(libraries, instant) };
  const child = spawn(process.execPath, [runner, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: all ? ALL_LIMIT_MS : LIMIT_MS,
  });
  const file = createWriteStream(log);
  for (const stream of [child.stdout, child.stderr]) stream.pipe(file, { end: false });
  const { promise, resolve: ended, reject } = Promise.withResolvers<number | string>();
  child.once('error', reject);
  child.once('close', (code, signal) => ended(code ?? signal ?? 'nothing'));
  return promise.finally(() => file.end());
}

async function readReport(file: string): Promise<readonly JestFile[] | null> {
  try {
    return JSON.parse(await readFile(file, 'utf8')).testResults;
  } catch {
    return null;
  }
}

function addHoursOf(date: string, others: readonly number[]): number[] {
  try {
    return [...others, ...everyHourOf(date)];
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

function addInstant(text: string, others: readonly number[]): number[] {
  const instant = Date.parse(text);
  if (Number.isNaN(instant))
    throw new InvalidArgumentError('It is not an instant such as 2027-03-28T00:30:00Z.');
  return [...others, instant];
}

function toText(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 16)}Z`;
}

function since(start: number): number {
  return Math.round((performance.now() - start) / 1000);
}
