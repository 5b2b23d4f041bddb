import { eventually } from '@phds/test-kit/conditions';
import { Command, CommanderError, InvalidArgumentError } from 'commander';
import { readRuleFile } from '../rule-files.ts';
import { chooseCauses } from './causes.ts';
import { startLoad } from './load.ts';
import { Prometheus, shortenRules } from './prometheus.ts';
import { startSite, toTargets } from './site.ts';
import { judge, type Verdict } from './verdict.ts';

const FACTOR = 20;
const INTERVAL_MS = 1_000;
/** Of the whole run. */
const LIMIT_MS = 3_600_000;

const command = new Command('pnpm prove:alerts')
  .description(
    'Causes the fault of each alert once, on a real service with a real Prometheus, and waits until the alert fires and ends.',
  )
  .argument('[alerts...]', 'names of alerts; all of them unless given')
  .option('--factor <n>', 'by which durations and ages of the rules are divided', parseFactor, FACTOR)
  .addHelpText(
    'after',
    '\nExit codes: 0 each alert fired and ended, and no other fired; 1 otherwise; 2 wrong arguments.',
  )
  .showHelpAfterError()
  .exitOverride();

function parseFactor(text: string): number {
  const factor = Number(text);
  if (factor >= 1 && factor <= 60) return factor;
  throw new InvalidArgumentError('It must be a number from 1 to 60.');
}

async function main(names: readonly string[], factor: number): Promise<number> {
  const causes = chooseCauses(names);
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupt.abort());
  const signal = AbortSignal.any([interrupt.signal, AbortSignal.timeout(LIMIT_MS)]);
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  await using site = await startSite((line) => say(`  ${line}`), signal);
  const rules = shortenRules(readRuleFile(), factor);
  const targets = toTargets(site.stack);
  await using prometheus = await Prometheus.start(rules, targets, INTERVAL_MS);
  // Alerts about absent series are pending before the first scrape.
  await eventually(async () => (await prometheus.query('up == 1')).length === targets.length);
  await eventually(async () => (await prometheus.listAlerts()).length === 0);
  await using _load = startLoad(site);
  const verdicts: Verdict[] = [];
  for (const cause of causes) {
    say(`${cause.alert}: ${cause.what}`);
    const verdict = await judge(cause, { site, prometheus, signal });
    verdicts.push(verdict);
    say(`  ${verdict.text}`);
    for (const line of toTable([verdict]).slice(2)) say(`  ${line}`);
    for (const violation of verdict.violations) say(`  VIOLATION: ${violation}`);
  }
  say(`\nDurations and ages of the rules divided by ${factor}, scraped every ${INTERVAL_MS / 1000} s:\n`);
  for (const line of toTable(verdicts)) say(line);
  return verdicts.every(({ violations }) => violations.length === 0) ? 0 : 1;
}

function toTable(verdicts: readonly Verdict[]): string[] {
  const seconds = (milliseconds: number | null) =>
    milliseconds === null ? 'no' : `${Math.round(milliseconds / 1000)} s`;
  return [
    '| Alert | Fault | Fired after | Ended after | Also fired |',
    '|---|---|---|---|---|',
    ...verdicts.map(({ cause, firedMs, resolvedMs, others }) => {
      const name = cause.severity === undefined ? cause.alert : `${cause.alert} (${cause.severity})`;
      return `| ${name} | ${cause.what} | ${seconds(firedMs)} | ${seconds(resolvedMs)} | ${others.join(', ')} |`;
    }),
  ];
}

try {
  command.parse();
  process.exitCode = await main(command.args, command.opts<{ factor: number }>().factor);
} catch (error) {
  // Commander has already printed the error or the help.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}
// A fault that failed may have left a server or a timer.
process.exit();
