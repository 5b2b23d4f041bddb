import { Command, InvalidArgumentError } from 'commander';
import { findViolations, type RollingReport, restartRolling } from './rolling-restart.ts';

const SHOWN = 10;

const command = new Command('pnpm prove:rolling')
  .description(
    'Runs two replicas of every service, restarts each of them under reads and revocations, and checks that no request fails and no read is stale. For Linux.',
  )
  .option('--rate <n>', 'reads a second', parsePositive, 300)
  .option('--delay <ms>', 'SHUTDOWN_DELAY_MS of the services', parsePositive, 2_000)
  .option('--kill', 'kill the replicas in place of stopping them: what is lost without draining', false)
  .addHelpText('after', '\nExit codes: 0 nothing failed, 1 something did, 2 wrong arguments or no start.')
  .showHelpAfterError();

function parsePositive(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

function print(report: RollingReport): void {
  const { restarts, reads, revocations, repeated } = report;
  const repeats = Object.values(repeated).reduce((sum, count) => sum + count, 0);
  const failures = reads.failed.length + revocations.failed.length;
  console.log(`${restarts} restarts`);
  console.log(
    `${reads.sent} reads, ${reads.perSecond.toFixed(0)} a second: ${reads.failed.length} failed; median ${reads.medianMs.toFixed(0)} ms, slowest ${reads.slowestMs.toFixed(0)} ms`,
  );
  console.log(
    `${revocations.acknowledged} revocations: ${revocations.stale} of ${revocations.readsAfter} reads after them got data; ${revocations.failed.length} requests failed`,
  );
  console.log(`${repeats} requests were sent a second time, ${failures} failed after it`);
  for (const [reason, count] of Object.entries(repeated).slice(0, SHOWN))
    console.log(`  ${count} × ${reason}`);
}

try {
  command.parse();
  const { rate, delay, kill } = command.opts<{ rate: number; delay: number; kill: boolean }>();
  const say = (line: string) => console.log(`  ${line}`);
  const report = await restartRolling({ readsPerSecond: rate, shutdownDelayMs: delay, kill, say });
  print(report);
  const violations = findViolations(report);
  for (const violation of violations.slice(0, SHOWN)) console.log(`VIOLATION ${violation}`);
  process.exitCode = violations.length === 0 ? 0 : 1;
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 2;
}
