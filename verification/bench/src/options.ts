import { parseArgs } from 'node:util';

/** How large and how long; the defaults are what `verification/bench/README.md` records. */
export interface Options {
  readonly users: number;
  /** A user. */
  readonly readings: number;
  readonly connections: number;
  /** Of one stretch of load. */
  readonly seconds: number;
  readonly rounds: number;
  /** Reads a second of `revocation` and `import`. */
  readonly rate: number;
  /** Revocations a second of `revocation`. */
  readonly revocations: number;
  /** Readings of the largest user of `flat`. */
  readonly largest: number;
  /** Of the export that `import` reads. */
  readonly records: number;
  /** Simulated days and replicas of `checkpoints`. */
  readonly days: number;
  readonly replicas: number;
  /** `checkpoints` as earlier releases signed them. */
  readonly earlier: boolean;
  /** Fill the database anew. */
  readonly fresh: boolean;
}

/** Reads the command line: the benchmark's name, if one is given, and its options. */
export function parseOptions(args: readonly string[]): { name: string; options: Options } {
  const text = (value: string) => ({ type: 'string', default: value }) as const;
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      users: text('3000'),
      readings: text('1000'),
      connections: text('32'),
      seconds: text('8'),
      rounds: text('5'),
      rate: text('500'),
      revocations: text('16'),
      records: text('1000000'),
      largest: text('10000000'),
      days: text('90'),
      replicas: text('10'),
      earlier: { type: 'boolean', default: false },
      fresh: { type: 'boolean', default: false },
    },
  });
  const { fresh, earlier, ...numbers } = values;
  const options = Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value)]));
  return { name: positionals[0] ?? 'heart', options: { ...(options as unknown as Options), fresh, earlier } };
}
