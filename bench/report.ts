import type { LoadResult } from './load.ts';

/** What one stretch of load came to; `cpu` in seconds by process. */
export interface Round extends LoadResult {
  readonly cpu: Readonly<Record<string, number>>;
}

type Side = 'floor' | 'service';

/** The result as Markdown: medians over the rounds, and the ratio of each round, which noise on the machine disturbs least. */
export function report(
  rounds: readonly Record<Side, Round>[],
  options: Readonly<Record<string, unknown>>,
): string {
  const side = (name: Side) => rounds.map((round) => round[name]);
  const failures = rounds.reduce((sum, round) => sum + round.floor.failures + round.service.failures, 0);
  const ratios = rounds.map(({ floor, service }) => service.perSecond / floor.perSecond);
  return [
    '',
    `${options['users']} users, ${Number(options['users']) * Number(options['readings'])} readings, ${options['connections']} connections, ${options['rounds']} rounds of ${options['seconds']} s`,
    '',
    '| | requests/s | p50 ms | p99 ms | CPU µs a request |',
    '|---|---|---|---|---|',
    toRow('floor', side('floor')),
    toRow('service', side('service')),
    '',
    `ratio service / floor: median ${median(ratios).toFixed(3)} (${ratios.map((ratio) => ratio.toFixed(3)).join(', ')})`,
    '',
    '| process | CPU µs a request |',
    '|---|---|',
    ...toProcessRows(side('service')),
    '',
    failures === 0 ? 'no failed request' : `VOID: ${failures} failed requests`,
  ].join('\n');
}

function toRow(name: Side, rounds: readonly Round[]): string {
  const of = (value: (round: Round) => number) => median(rounds.map(value));
  const total = of((round) =>
    micros(
      Object.values(round.cpu).reduce((a, b) => a + b, 0),
      round,
    ),
  );
  return `| ${name} | ${of((round) => round.perSecond).toFixed(0)} | ${of((round) => round.p50)} | ${of((round) => round.p99)} | ${total.toFixed(0)} |`;
}

function toProcessRows(rounds: readonly Round[]): string[] {
  const names = Object.keys(rounds[0]?.cpu ?? {}).filter((name) => name !== 'floor');
  return names.map(
    (name) =>
      `| ${name} | ${median(rounds.map((round) => micros(round.cpu[name] ?? 0, round))).toFixed(0)} |`,
  );
}

function micros(seconds: number, round: Round): number {
  return (seconds / round.requests) * 1_000_000;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
