import { Command } from 'commander';
import { runProof } from '../command.ts';
import { findViolations, type RollingReport, restartRolling } from './rolling-restart.ts';

const SHOWN = 10;
const READS_PER_SECOND = 300;
const SHUTDOWN_DELAY_MS = 2_000;

const command = new Command('pnpm prove:rolling')
  .description(
    'Runs two replicas of every service, applies migrations and restarts each replica under reads and revocations, and checks that no request fails and no read is stale. For Linux.',
  )
  .option('--kill', 'kill the replicas in place of stopping them: what is lost without draining', false);

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

await runProof(command, async (signal) => {
  const { kill } = command.opts<{ kill: boolean }>();
  const report = await restartRolling({
    readsPerSecond: READS_PER_SECOND,
    shutdownDelayMs: SHUTDOWN_DELAY_MS,
    kill,
    say: (line) => console.log(`  ${line}`),
    signal,
  });
  print(report);
  const violations = findViolations(report);
  for (const violation of violations.slice(0, SHOWN)) console.log(`VIOLATION ${violation}`);
  return violations.length === 0;
});
