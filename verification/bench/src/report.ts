import type { LoadResult } from './load-job.ts';
import type { Round } from './measure.ts';

/** Rounds of load on several sides, by their names. */
type Rounds = readonly Readonly<Record<string, Round>>[];

/** A table of Markdown. */
export function toTable(header: readonly string[], rows: readonly (readonly unknown[])[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(' | ')} |`;
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n');
}

export function countFailures(results: readonly LoadResult[]): number {
  return results.reduce((sum, { failures }) => sum + failures, 0);
}

/** The last line of a report. One failed request makes a run void. */
export function toVerdict(results: readonly LoadResult[]): string {
  const failures = countFailures(results);
  return failures === 0 ? 'no failed request' : `VOID: ${failures} failed requests`;
}

/** The names of the sides, and of the processes of one of them. */
interface Compared {
  /** The side that the others are compared with. */
  readonly base: string;
  readonly processes: readonly string[];
}

/** The columns of `toSideRows`. */
export function toSideColumns({ base, processes }: Compared): string[] {
  const ratio = `÷ ${base}`;
  const latencies = ['p50 ms', 'p99 ms', 'CPU µs a request'];
  return ['side', 'requests/s', ratio, ...latencies, ratio, ...processes.map((name) => `${name} µs`)];
}

/** A row for each side: medians, and medians and ranges of the ratios within each round, which noise affects least. */
export function toSideRows(rounds: Rounds, { base, processes }: Compared): unknown[][] {
  return Object.keys(rounds[0] ?? {}).map((name) => {
    const of = (value: (round: Round) => number) => median(valuesOf(rounds, name, value)).toFixed(0);
    const over = (value: (round: Round) => number) =>
      base === name ? '' : toSpan(rounds, name, base, value);
    return [
      name,
      of(({ perSecond }) => perSecond),
      over(({ perSecond }) => perSecond),
      of(({ p50 }) => p50),
      of(({ p99 }) => p99),
      of(microsOf),
      over(microsOf),
      ...processes.map((process) => of((round) => toMicros(round.cpu[process] ?? 0, round))),
    ];
  });
}

function toSpan(rounds: Rounds, name: string, base: string, value: (round: Round) => number): string {
  const ratios = toRatios(rounds, name, base, value);
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
  return `${median(ratios).toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`;
}

/** A side as a multiple of another, by round. */
function toRatios(rounds: Rounds, name: string, base: string, value: (round: Round) => number): number[] {
  const divisors = valuesOf(rounds, base, value);
  return valuesOf(rounds, name, value).map((each, index) => each / (divisors[index] ?? Number.NaN));
}

function valuesOf(rounds: Rounds, name: string, value: (round: Round) => number): number[] {
  return rounds.flatMap((round) => round[name] ?? []).map(value);
}

/** CPU of all processes in microseconds a request. */
function microsOf(round: Round): number {
  return toMicros(sumOf(round.cpu), round);
}

/** CPU in microseconds a request. */
export function toMicros(seconds: number, { requests }: LoadResult): number {
  return (seconds / requests) * 1_000_000;
}

/** Seconds of all processes. */
export function sumOf(cpu: Readonly<Record<string, number>>): number {
  return Object.values(cpu).reduce((a, b) => a + b, 0);
}

/** The middle value; the higher of the two if their number is even. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
