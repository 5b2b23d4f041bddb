import type { Round } from './measure.ts';
import type { Kind, Options } from './options.ts';
import { median, micros, microsOf, toRatios } from './report.ts';

/** The rounds of one kind of request: `before`, `after` and what was measured beside them. */
export interface KindRounds {
  readonly kind: Kind;
  readonly rounds: readonly Record<string, Round>[];
}

type Settings = Options & {
  /** Load averages at the start and after each kind. */
  readonly loads: readonly (readonly number[])[];
};

/** Formats the result as Markdown: medians of the rounds, and medians and ranges of the ratios within each round. */
export function reportInterleaved(measured: readonly KindRounds[], settings: Settings): string {
  const { commit, connections, rounds, seconds, users, kinds, loads } = settings;
  const people = kinds.includes('read') ? `, ${users} users` : '';
  const failures = countFailed(measured);
  const processes = Object.keys(measured[0]?.rounds[0]?.['after']?.cpu ?? {});
  const columns = [
    'request',
    'side',
    'requests/s',
    '÷ before',
    '÷ beside',
    'p50 ms',
    'p99 ms',
    'CPU µs a request',
    '÷ before',
    '÷ beside',
    ...processes.map((name) => `${name} µs`),
  ];
  return [
    '',
    `before: ${commit}; after: this tree; ${connections} connections, ${rounds} rounds of ${seconds} s${people}`,
    '',
    `| ${columns.join(' | ')} |`,
    `|${columns.map(() => '---|').join('')}`,
    ...measured.flatMap((of) => toRows(of, processes)),
    '',
    `load average of a minute, at the start and after each kind: ${loads.map(([minute = 0]) => minute.toFixed(1)).join(', ')}`,
    '',
    failures === 0 ? 'no failed request' : `VOID: ${failures} failed requests`,
  ].join('\n');
}

/** Failed requests of all rounds. */
export function countFailed(measured: readonly KindRounds[]): number {
  const stretches = measured.flatMap(({ rounds }) => rounds.flatMap((round) => Object.values(round)));
  return stretches.reduce((sum, { failures }) => sum + failures, 0);
}

function toRows({ kind, rounds }: KindRounds, processes: readonly string[]): string[] {
  const names = Object.keys(rounds[0] ?? {});
  const beside = names.find((name) => name !== 'before' && name !== 'after');
  return names.map((name) => {
    const of = (value: (round: Round) => number, digits = 0) =>
      median(rounds.flatMap((round) => round[name] ?? []).map(value)).toFixed(digits);
    const over = (base: string | undefined, what: 'perSecond' | 'cpu') =>
      base === undefined || base === name ? '' : toSpan(toRatios({ rounds, base, other: name })[what]);
    const cells = [
      kind,
      name,
      of(({ perSecond }) => perSecond),
      over('before', 'perSecond'),
      over(beside, 'perSecond'),
      of(({ p50 }) => p50),
      of(({ p99 }) => p99),
      of(microsOf),
      over('before', 'cpu'),
      over(beside, 'cpu'),
      ...processes.map((process) => of((round) => micros(round.cpu[process] ?? 0, round))),
    ];
    return `| ${cells.join(' | ')} |`;
  });
}

function toSpan(ratios: readonly number[]): string {
  const [low, high] = [Math.min(...ratios), Math.max(...ratios)];
  return `${median(ratios).toFixed(3)} (${low.toFixed(3)}–${high.toFixed(3)})`;
}
