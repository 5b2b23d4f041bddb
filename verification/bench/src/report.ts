import type { LoadResult } from './load-job.ts';
import type { Round } from './measure.ts';
import type { Options } from './options.ts';

/** Reads at half the rate that the service can serve: alone, with the CPU of all processes in seconds, and beside larger reads. */
export interface HalfRate {
  readonly alone: { readonly reads: LoadResult; readonly cpu: number };
  readonly beside: readonly {
    readonly name: string;
    readonly reads: LoadResult;
    readonly larger: LoadResult;
  }[];
}

export interface Comparison<Name extends string> {
  readonly rounds: readonly Record<Name, Round>[];
  readonly base: Name;
  readonly other: Name;
  /** The other side at half the rate that it can serve. */
  readonly halfRate?: HalfRate;
}

/** Formats the result as Markdown: medians over the rounds, and the ratios within each round, which noise affects least. */
export function report<Name extends string>(comparison: Comparison<Name>, options: Options): string {
  const { rounds, base, other, halfRate } = comparison;
  const { perSecond, cpu } = toRatios(comparison);
  const failures = countFailures(comparison);
  const { users, readings, connections, seconds } = options;
  return [
    '',
    `${users} users, ${users * readings} readings, ${connections} connections, ${rounds.length} rounds of ${seconds} s`,
    '',
    `| | requests/s | × ${base} | p50 ms | p99 ms | CPU µs a request | CPU × ${base} |`,
    '|---|---|---|---|---|---|---|',
    toRow(base, sideOf(rounds, base), '1', '1'),
    toRow(other, sideOf(rounds, other), median(perSecond).toFixed(3), median(cpu).toFixed(2)),
    ...(halfRate === undefined ? [] : toHalfRateRows(other, halfRate)),
    '',
    `requests/s × ${base} by round: ${perSecond.map((ratio) => ratio.toFixed(3)).join(', ')}`,
    `CPU × ${base} by round: ${cpu.map((ratio) => ratio.toFixed(2)).join(', ')}`,
    '',
    `| process of ${other} | CPU µs a request |`,
    '|---|---|',
    ...toProcessRows(sideOf(rounds, other)),
    '',
    failures === 0 ? 'no failed request' : `VOID: ${failures} failed requests`,
  ].join('\n');
}

function sideOf<Name extends string>(rounds: readonly Record<Name, Round>[], name: Name): Round[] {
  return rounds.map((round) => round[name]);
}

/** The other side as a multiple of the base, by round. */
export function toRatios<Name extends string>({ rounds, base, other }: Comparison<Name>) {
  return {
    perSecond: rounds.map((round) => round[other].perSecond / round[base].perSecond),
    cpu: rounds.map((round) => microsOf(round[other]) / microsOf(round[base])),
  };
}

/** Failed requests of all stretches. A result with any is void. */
export function countFailures<Name extends string>({
  rounds,
  base,
  other,
  halfRate,
}: Comparison<Name>): number {
  const stretches = halfRate === undefined ? [] : readsOf(halfRate);
  const failures = [
    ...rounds.flatMap((round) => [round[base].failures, round[other].failures]),
    ...stretches.map((reads) => reads.failures),
  ];
  return failures.reduce((sum, count) => sum + count, 0);
}

function readsOf({ alone, beside }: HalfRate): LoadResult[] {
  return [alone.reads, ...beside.flatMap(({ reads, larger }) => [reads, larger])];
}

function toRow(name: string, rounds: readonly Round[], ratio: string, cpuRatio: string): string {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  const cells = [
    of((round) => round.perSecond).toFixed(0),
    ratio,
    of((round) => round.p50),
    of((round) => round.p99),
  ];
  return `| ${[name, ...cells, of(microsOf).toFixed(0), cpuRatio].join(' | ')} |`;
}

function toHalfRateRows(name: string, { alone, beside }: HalfRate): string[] {
  const { reads, cpu } = alone;
  return [
    toReadsRow(`${name}, half the rate`, reads, ((cpu / reads.requests) * 1_000_000).toFixed(0)),
    ...beside.flatMap((stretch) => [
      toReadsRow(`${name}, half the rate, beside ${stretch.name}`, stretch.reads),
      toReadsRow(stretch.name, stretch.larger),
    ]),
  ];
}

function toReadsRow(name: string, { p50, p99, perSecond }: LoadResult, micros = ''): string {
  return `| ${[name, perSecond.toFixed(0), '', p50.toFixed(1), p99.toFixed(1), micros, ''].join(' | ')} |`;
}

function toProcessRows(rounds: readonly Round[]): string[] {
  const names = Object.keys(rounds[0]?.cpu ?? {});
  return names.map(
    (name) =>
      `| ${name} | ${median(rounds.map((round) => micros(round.cpu[name] ?? 0, round))).toFixed(0)} |`,
  );
}

/** CPU of all processes in microseconds a request. */
export function microsOf(round: Round): number {
  return micros(
    Object.values(round.cpu).reduce((a, b) => a + b, 0),
    round,
  );
}

/** CPU in microseconds a request. */
export function micros(seconds: number, round: Round): number {
  return (seconds / round.requests) * 1_000_000;
}

/** The middle value; the higher of the two if their number is even. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
