import { Argument, Command, InvalidArgumentError } from 'commander';

/** Size and duration. The defaults are those reported in `verification/bench/README.md`. */
export interface Options {
  readonly users: number;
  /** For each user. */
  readonly readings: number;
  readonly connections: number;
  /** Of one load interval. */
  readonly seconds: number;
  readonly rounds: number;
  /** Whether `heart` also measures larger reads beside its load. */
  readonly beside: boolean;
  /** Reads per second of `revocation` and `import`. */
  readonly rate: number;
  /** Revocations per second of `revocation`. */
  readonly revocations: number;
  /** Of the export that `import` reads. */
  readonly records: number;
  /** Whether `capacity` measures nothing and computes its page from the costs that are there. */
  readonly computed: boolean;
  /** Whether to refill the database. */
  readonly fresh: boolean;
}

/** `pnpm bench`: the name of a benchmark as its argument, and `Options`. */
export function createBenchCommand(names: readonly string[]): Command {
  return new Command('pnpm bench')
    .description('Runs a benchmark and prints its result as the tables of verification/bench/README.md.')
    .addArgument(new Argument('[name]', 'the benchmark').choices(names).default('heart'))
    .option('--users <n>', 'people with readings; aims has its own', parseCount, 3_000)
    .option('--readings <n>', 'readings of each', parseCount, 1_000)
    .option(
      '--beside',
      'heart: also page 1,000 of a large user, a dataFrom grant and a filter beside it',
      false,
    )
    .option('--connections <n>', 'heart, aims: connections of the client', parseCount, 32)
    .option('--seconds <n>', 'length of one stretch of load', parseSeconds, 8)
    .option('--rounds <n>', 'heart, aims, web, token: repetitions', parseCount, 5)
    .option('--rate <n>', 'revocation, import: reads a second', parseCount, 500)
    .option('--revocations <n>', 'revocation: revocations a second', parseCount, 16)
    .option('--records <n>', 'import: records of the export', parseCount, 1_000_000)
    .option('--computed', 'capacity: measure nothing, write the page from the measured costs', false)
    .option('--fresh', 'fill the database anew', false)
    .showHelpAfterError();
}

function parseCount(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number above 0.');
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (seconds > 0 && Number.isFinite(seconds)) return seconds;
  throw new InvalidArgumentError('It must be a number above 0.');
}
