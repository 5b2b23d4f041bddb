import { Command, CommanderError, InvalidArgumentError } from 'commander';
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
  .option('--list', 'print the faults', false)
  .addHelpText('after', '\nExit codes: 0 every promise was kept, 1 one was broken, 2 wrong arguments.')
  .showHelpAfterError()
  .exitOverride();

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && Number.isFinite(seconds)) return seconds;
  throw new InvalidArgumentError('It must be a number above 0.');
}

/** Runs the faults with these names. Returns the exit code. */
async function main(names: readonly string[], options: Options): Promise<number> {
  const { short, json } = options;
  if (options.list) {
    process.stdout.write(FAULTS.map(({ name, what }) => `${name.padEnd(30)} ${what}\n`).join(''));
    return 0;
  }
  const seconds = options.seconds ?? (short ? SHORT_SECONDS : DEFAULT_SECONDS);
  const faults = chooseFaults(names, short);
  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupt.abort());
  boundFetch(ANSWER_LIMIT_MS, () => undefined);
  const output = json ? process.stderr : process.stdout;
  const verdicts = await runSuite({
    faults,
    milliseconds: seconds * 1000,
    print: (line) => void output.write(`${line}\n`),
    signal: interrupt.signal,
  });
  const summary = summarize(verdicts);
  for (const line of toSummaryLines(summary)) output.write(`${line}\n`);
  if (json) process.stdout.write(`${JSON.stringify({ ...summary, verdicts }, null, 2)}\n`);
  return summary.violations.length === 0 ? 0 : 1;
}

try {
  command.parse();
  process.exitCode = await main(command.args, command.opts<Options>());
} catch (error) {
  // Commander has already printed the error or the help.
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : 2;
  else {
    process.stderr.write(`${(error as Error).message}\n`);
    process.exitCode = 2;
  }
}
