import { Command } from 'commander';
import { parseSeconds, runProof } from './command.ts';
import { chooseFaults, FAULTS } from './faults/catalogue.ts';
import { boundFetch } from './load/wire.ts';
import { runSuite, summarize, toSummaryLines } from './suite.ts';

const DEFAULT_SECONDS = 30;
const SHORT_SECONDS = 5;
const ANSWER_LIMIT_MS = 10_000;

interface Options {
  readonly seconds?: number;
  readonly short: boolean;
  readonly json: boolean;
  readonly list: boolean;
}

const command = new Command('pnpm faults')
  .description(
    'Runs the whole service under steady load, injects one fault after the other, and checks that every promise holds.',
  )
  .argument('[names...]', 'a fault, or a part of the names of several; all of them unless given')
  .option(
    '--seconds <n>',
    `how long each fault lasts (default: ${DEFAULT_SECONDS}, with --short ${SHORT_SECONDS})`,
    parseSeconds,
  )
  .option('--short', 'a few faults only, for each change', false)
  .option('--json', 'print one JSON document at the end, and the timelines to the error output', false)
  .option('--list', 'print the faults', false);

await runProof(command, async (signal) => {
  const { short, json, list, seconds = short ? SHORT_SECONDS : DEFAULT_SECONDS } = command.opts<Options>();
  if (list) {
    process.stdout.write(FAULTS.map(({ name, what }) => `${name.padEnd(30)} ${what}\n`).join(''));
    return true;
  }
  const faults = chooseFaults(command.args, short);
  boundFetch(ANSWER_LIMIT_MS, () => undefined);
  const print = json ? console.error : console.log;
  const verdicts = await runSuite({ faults, milliseconds: seconds * 1000, print, signal });
  const summary = summarize(verdicts);
  for (const line of toSummaryLines(summary)) print(line);
  if (json) console.log(JSON.stringify({ ...summary, verdicts }, null, 2));
  return summary.violations.length === 0;
});
