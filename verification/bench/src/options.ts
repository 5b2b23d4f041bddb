import { parseCount, parseSeconds } from '@phds/guarantees/command';
import { Argument, Command, InvalidArgumentError } from 'commander';
import { TOKEN_REQUESTS } from './load-job.ts';

const KINDS = [...TOKEN_REQUESTS, 'read'] as const;

/** A kind of request of `interleaved`. */
export type Kind = (typeof KINDS)[number];

/** `interleaved` has more sides and kinds than the other benchmarks. */
const INTERLEAVED = { users: 1_000, connections: 16, seconds: 3 };

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
  /** The other side of `interleaved`. */
  readonly commit: string;
  /** What `interleaved` measures. */
  readonly kinds: readonly Kind[];
  /** Whether to refill the database. */
  readonly fresh: boolean;
}

/** `pnpm bench`: the name of a benchmark as its argument, and `Options`. */
export function createBenchCommand(names: readonly string[]): Command {
  return new Command('pnpm bench')
    .description('Runs a benchmark and prints its result as the tables of verification/bench/README.md.')
    .addArgument(new Argument('[name]', 'the benchmark').choices(names).default('heart'))
    .option(
      '--users <n>',
      `people with readings; aims has its own, interleaved ${INTERLEAVED.users}`,
      parseCount,
      3_000,
    )
    .option('--readings <n>', 'readings of each', parseCount, 1_000)
    .option(
      '--beside',
      'heart: also page 1,000 of a large user, a dataFrom grant and a filter beside it',
      false,
    )
    .option(
      '--connections <n>',
      `connections of the client; interleaved ${INTERLEAVED.connections}`,
      parseCount,
      32,
    )
    .option(
      '--seconds <n>',
      `length of one stretch of load; interleaved ${INTERLEAVED.seconds}`,
      parseSeconds,
      8,
    )
    .option('--rounds <n>', 'heart, aims, web, interleaved, tokens: repetitions', parseCount, 5)
    .option('--rate <n>', 'revocation, import: reads a second', parseCount, 500)
    .option('--records <n>', 'import: records of the export', parseCount, 1_000_000)
    .option(
      '--commit <revision>',
      'interleaved: the other side; by default what is committed, beside the changes in the tree',
      'HEAD',
    )
    .option(
      '--kinds <list>',
      `interleaved, tokens: of ${KINDS.join(',')}`,
      parseKinds,
      KINDS as readonly Kind[],
    )
    .option('--fresh', 'fill the database anew; interleaved always does', false)
    .hook('preAction', (command) => {
      if (!['interleaved', 'tokens'].includes(command.args[0] ?? '')) return;
      for (const [name, value] of Object.entries(INTERLEAVED))
        if (command.getOptionValueSource(name) === 'default') command.setOptionValue(name, value);
    })
    .showHelpAfterError();
}

function parseKinds(text: string): readonly Kind[] {
  return text.split(',').map((name) => {
    const kind = KINDS.find((one) => one === name);
    if (kind === undefined) throw new InvalidArgumentError(`It must be a list of ${KINDS.join(',')}.`);
    return kind;
  });
}
