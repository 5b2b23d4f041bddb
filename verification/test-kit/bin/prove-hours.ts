/**
 * Runs the tests that depend on the date with the clock of every process at other instants: every hour of a day, the two days of a
 * clock change in Europe/Berlin, 31 December and 29 February. About 20 minutes on two cores. Exits with 1 when a test fails.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempDisposableSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';

/** Tests whose outcome could depend on the date: they count by day or month, or read data that ends at the current time. */
const FILES = [
  'verification/e2e/test/endpoints-answers.test.ts',
  'services/consent/test/history.test.ts',
  'services/consent/test/record-partitions.test.ts',
  'services/consent/test/host-webhooks.test.ts',
];

/** For the tests at one instant. If a server never answers, tests hang. */
const LIMIT_MS = 600_000;

const EVERY_HOUR = Array.from({ length: 24 }, (_, hour) =>
  new Date(Date.UTC(2027, 0, 20, hour, 30)).toISOString(),
);

const TELLING_INSTANTS = [
  ...EVERY_HOUR,
  // Daylight saving time starts at 01:00 UTC on 28 March and ends at 01:00 UTC on 31 October.
  '2027-03-27T23:30:00Z',
  '2027-03-28T00:30:00Z',
  '2027-03-28T01:30:00Z',
  '2027-03-28T22:30:00Z',
  '2027-10-30T22:30:00Z',
  '2027-10-31T00:30:00Z',
  '2027-10-31T01:30:00Z',
  '2027-10-31T23:30:00Z',
  '2027-12-31T12:30:00Z',
  '2027-12-31T23:30:00Z',
  '2028-02-28T23:30:00Z',
  '2028-02-29T12:30:00Z',
  '2028-02-29T23:30:00Z',
];

const { at } = new Command('pnpm prove:hours')
  .option('--at <instant>', 'run at this instant instead; may be repeated', addInstant, [])
  .parse()
  .opts<{ at: string[] }>();

if (!FILES.every((file) => existsSync(file))) throw new Error('A file of the list does not exist.');
const [clock] = globSync('/usr/lib/*/faketime/libfaketime.so.1');
if (clock === undefined) throw new Error('Install the package libfaketime first.');
using directory = mkdtempDisposableSync(join(tmpdir(), 'phds-hours-'));
const waits = join(directory.path, 'plain-waits.so');
const source = resolve(import.meta.dirname, '../src/plain-waits.c');
const compiler = ['cc', 'gcc', 'clang'].find((name) => spawnSync(name, ['--version']).status === 0);
if (compiler === undefined) throw new Error('Install the packages gcc and libc6-dev first.');
execFileSync(compiler, ['-shared', '-fPIC', '-O1', '-o', waits, source]);

const wrong = (at.length === 0 ? TELLING_INSTANTS : at).filter((instant) => !passesAt(instant));
console.log(wrong.length === 0 ? 'hours: every one passed' : `hours: failed at ${wrong.join(', ')}`);
process.exitCode = wrong.length === 0 ? 0 : 1;

/** Runs the tests with a wall clock that starts at an instant and runs on from there. Timers and file times stay real. */
function passesAt(instant: string): boolean {
  console.log(`\n=== ${instant}`);
  // All processes shift by the same whole seconds, so they agree.
  const seconds = Math.round((Date.parse(instant) - Date.now()) / 1000);
  const shifted = {
    LD_PRELOAD: `${waits}:${clock}`,
    FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}`,
    FAKETIME_DISABLE_SHM: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
  const runner = resolve(import.meta.dirname, 'run-tests.mjs');
  // With CI set, a missing requirement of a test is a failure.
  const env = { ...process.env, CI: 'true', ...shifted };
  const options = { env, stdio: 'inherit', timeout: LIMIT_MS } as const;
  const { status, error } = spawnSync(process.execPath, [runner, ...FILES], options);
  if (error !== undefined) console.log(`=== ${instant}: stopped after 10 minutes (${error.message})`);
  return status === 0;
}

function addInstant(text: string, others: readonly string[]): string[] {
  if (!Number.isNaN(Date.parse(text))) return [...others, text];
  throw new InvalidArgumentError('It is not an instant such as 2027-03-28T00:30:00Z.');
}
