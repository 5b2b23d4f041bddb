import type { Round } from './measure.ts';
import type { Options } from './options.ts';

/** Formats the result as Markdown: medians over the rounds, and the ratio within each round, which noise affects least. */
export function report<Name extends string>(
  rounds: readonly Record<Name, Round>[],
  { base, other, options }: { readonly base: Name; readonly other: Name; readonly options: Options },
): string {
  const side = (name: Name) => rounds.map((round) => round[name]);
  const failures = [...side(base), ...side(other)].reduce((sum, round) => sum + round.failures, 0);
  const ratios = rounds.map((round) => round[other].perSecond / round[base].perSecond);
  const { users, readings, connections, seconds } = options;
  return [
    '',
    `${users} users, ${users * readings} readings, ${connections} connections, ${rounds.length} rounds of ${seconds} s`,
    '',
    '| | requests/s | p50 ms | p99 ms | CPU µs a request |',
    '|---|---|---|---|---|',
    toRow(base, side(base)),
    toRow(other, side(other)),
    '',
    `ratio ${other} / ${base}: median ${median(ratios).toFixed(3)} (${ratios.map((ratio) => ratio.toFixed(3)).join(', ')})`,
    '',
    `| process of ${other} | CPU µs a request |`,
    '|---|---|',
    ...toProcessRows(side(other)),
    '',
    failures === 0 ? 'no failed request' : `VOID: ${failures} failed requests`,
  ].join('\n');
}

function toRow(name: string, rounds: readonly Round[]): string {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  const cpu = of((round) =>
    micros(
      Object.values(round.cpu).reduce((a, b) => a + b, 0),
      round,
    ),
  );
  return `| ${name} | ${of((round) => round.perSecond).toFixed(0)} | ${of((round) => round.p50)} | ${of((round) => round.p99)} | ${cpu.toFixed(0)} |`;
}

function toProcessRows(rounds: readonly Round[]): string[] {
  const names = Object.keys(rounds[0]?.cpu ?? {});
  return names.map(
    (name) =>
      `| ${name} | ${median(rounds.map((round) => micros(round.cpu[name] ?? 0, round))).toFixed(0)} |`,
  );
}

function micros(seconds: number, round: Round): number {
  return (seconds / round.requests) * 1_000_000;
}

/** The middle value; the higher of the two if their number is even. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
