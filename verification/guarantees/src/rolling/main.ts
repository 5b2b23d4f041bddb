import { Command } from 'commander';
import { runProof } from '../command.ts';
import { findViolations, restartRolling } from './rolling-restart.ts';

const SHOWN = 10;
const SHUTDOWN_DELAY_MS = 2_000;

const command = new Command('pnpm prove:rolling').description(
  'Runs two replicas of every service, applies migrations and restarts each replica under reads and revocations, and checks that no request fails and no read is stale. For Linux.',
);

await runProof(command, async (signal) => {
  const say = (line: string) => console.log(`  ${line}`);
  const report = await restartRolling({ shutdownDelayMs: SHUTDOWN_DELAY_MS, say, signal });
  const { restarts, reads, revocations } = report;
  console.log(`${restarts} restarts; ${reads.answered} reads, ${reads.failures.length} failed`);
  console.log(
    `${revocations.acknowledged} revocations: ${revocations.stale} of ${revocations.readsAfter} reads after them got data; ${revocations.failures.length} rounds failed`,
  );
  const violations = findViolations(report);
  for (const violation of violations.slice(0, SHOWN)) console.log(`VIOLATION ${violation}`);
  return violations.length === 0;
});
