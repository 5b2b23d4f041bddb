import { parseCount, parseSeconds } from '@phds/guarantees/command';
import { Argument, Command } from 'commander';

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
  /** Of the export that `import` reads. */
  readonly records: number;
  /** Whether to refill the database. */
  readonly fresh: boolean;
}

/** `pnpm bench`: the name of a benchmark as its argument, and `Options`. */
export function createBenchCommand(names: readonly string[]): Command {
  return new Command('pnpm bench')
    .description('Runs a benchmark and prints its result as the tables of verification/bench/README.md.')
    .addArgument(new Argument('[name]', 'the benchmark').choices(names).default('heart'))
    .option('--users <n>', 'people with readings', parseCount, 3_000)
    .option('--readings <n>', 'readings of each', parseCount, 1_000)
    .option(
      '--beside',
      'heart: also page 1,000 of a large user, a dataFrom grant and a filter beside it',
      false,
    )
    .option('--connections <n>', 'connections of the client', parseCount, 32)
    .option('--seconds <n>', 'length of one stretch of load', parseSeconds, 8)
    .option('--rounds <n>', 'all but revocation and import: repetitions', parseCount, 5)
    .option('--rate <n>', 'revocation, import: reads a second', parseCount, 500)
    .option('--records <n>', 'import: records of the export', parseCount, 1_000_000)
    .option('--fresh', 'fill the database anew', false)
    .showHelpAfterError();
}
