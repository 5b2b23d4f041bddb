import { parseArgs } from 'node:util';
import { chooseFaults, FAULTS } from './faults/catalogue.ts';
import { boundFetch } from './load/bounded-fetch.ts';
import { runSuite } from './suite.ts';
import { summarize, toSummaryLines } from './verdict.ts';

const HELP = `Usage: pnpm faults [NAME…] [--seconds N] [--short] [--json] [--list]

Runs the whole service under steady load, lets one fault after the other happen to it, and judges what came of it.

  NAME          a fault, or a part of the names of several; without any, all of them
  --seconds N   how long each fault lasts (default 30; 5 with --short)
  --short       a few faults only, for each change
  --json        print one JSON document at the end, and the timelines to the error output
  --list        print the faults
  --help        print this

Exit codes: 0 every promise was kept, 1 one was broken, 2 wrong arguments.
`;

const DEFAULT_SECONDS = 30;
const SHORT_SECONDS = 5;
const ANSWER_LIMIT_MS = 10_000;

/** Runs what the arguments name. Answers the exit code. */
async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      seconds: { type: 'string' },
      short: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return print(HELP);
  if (values.list) return print(FAULTS.map(({ name, what }) => `${name.padEnd(30)} ${what}\n`).join(''));
  const seconds = Number(values.seconds ?? (values.short ? SHORT_SECONDS : DEFAULT_SECONDS));
  if (!(seconds > 0)) throw new Error('--seconds must be a number above 0');
  const faults = chooseFaults(positionals, values.short);

  const interrupt = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupt.abort());
  boundFetch(ANSWER_LIMIT_MS, () => undefined);
  const output = values.json ? process.stderr : process.stdout;
  const verdicts = await runSuite({
    faults,
    milliseconds: seconds * 1000,
    print: (line) => void output.write(`${line}\n`),
    signal: interrupt.signal,
  });
  const summary = summarize(verdicts);
  for (const line of toSummaryLines(summary)) output.write(`${line}\n`);
  if (values.json) process.stdout.write(`${JSON.stringify({ ...summary, verdicts }, null, 2)}\n`);
  return summary.violations.length === 0 ? 0 : 1;
}

function print(text: string): number {
  process.stdout.write(text);
  return 0;
}

try {
  process.exitCode = await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exitCode = 2;
}
