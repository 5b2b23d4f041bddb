import type { Round } from '../measure.ts';
import type { Options } from '../options.ts';
import { median, micros } from '../report.ts';
import type { Waits } from './waits.ts';

/** Batches and records of one writer: a replica of consent. */
export interface Chain {
  readonly writer: string;
  readonly batches: number;
  readonly records: number;
}

export interface ScaleResult {
  readonly rounds: readonly Record<string, Round>[];
  readonly waits: Waits;
  readonly chains: readonly Chain[];
  readonly loads: readonly string[];
}

const PROCESSES = [
  'haproxy',
  'gateway',
  'authorization',
  'consent',
  'health-data',
  'postgres',
  'redis',
] as const;

/** Formats the result as Markdown: medians over the rounds. */
export function reportScale({ rounds, waits, chains, loads }: ScaleResult, options: Options): string {
  const counts = Object.keys(rounds[0] ?? {});
  const failures = rounds
    .flatMap((round) => Object.values(round))
    .reduce((sum, one) => sum + one.failures, 0);
  return [
    '',
    `${options.users} users, ${options.connections} connections, ${rounds.length} rounds of ${options.seconds} s, load averages ${loads.join('; ')}`,
    '',
    '| replicas | requests/s | × one | p50 ms | p99 ms | CPU × one | the busiest and the least busy gateway, health-data, consent: % of their sum |',
    '|---|---|---|---|---|---|---|',
    ...counts.map((count) => toRow(rounds, count)),
    '',
    `| CPU µs a request, replicas | ${PROCESSES.join(' | ')} | all |`,
    `|---|${PROCESSES.map(() => '---|').join('')}---|`,
    ...counts.map((count) => toCpuRow(rounds, count)),
    '',
    ...toChains(chains),
    toWaits(waits),
    '',
    failures === 0 ? 'no failed request' : `VOID: ${failures} failed requests`,
  ].join('\n');
}

function toRow(rounds: ScaleResult['rounds'], count: string): string {
  const of = (value: (round: Round, one: Round) => number) =>
    median(rounds.map((round) => value(round[count] as Round, round['1'] as Round)));
  const cells = [
    of((round) => round.perSecond).toFixed(0),
    of((round, one) => round.perSecond / one.perSecond).toFixed(2),
    of((round) => round.p50),
    of((round) => round.p99),
    of((round, one) => totalOf(round) / totalOf(one)).toFixed(2),
    ['gateway', 'health-data', 'consent'].map((name) => toSpread(rounds, count, name)).join(', '),
  ];
  return `| ${[count, ...cells].join(' | ')} |`;
}

function toCpuRow(rounds: ScaleResult['rounds'], count: string): string {
  const of = (value: (round: Round) => number) =>
    median(rounds.map((round) => value(round[count] as Round))).toFixed(0);
  const cells = PROCESSES.map((name) => of((round) => micros(sumOf(round, name), round)));
  return `| ${[count, ...cells, of(totalOf)].join(' | ')} |`;
}

function valuesOf({ cpu }: Round, service: string): number[] {
  return Object.entries(cpu).flatMap(([name, seconds]) =>
    name.replace(/-\d+$/, '') === service ? [seconds] : [],
  );
}

function sumOf(round: Round, service: string): number {
  return valuesOf(round, service).reduce((a, b) => a + b, 0);
}

/** CPU of all processes in microseconds a request. */
function totalOf(round: Round): number {
  return micros(
    Object.values(round.cpu).reduce((a, b) => a + b, 0),
    round,
  );
}

function toSpread(rounds: ScaleResult['rounds'], count: string, service: string): string {
  const of = (extreme: (...values: number[]) => number) => {
    const shares = rounds.map((round) => {
      const values = valuesOf(round[count] as Round, service);
      return (100 * extreme(...values)) / values.reduce((a, b) => a + b, 0);
    });
    return median(shares).toFixed(0);
  };
  return `${of(Math.max)}–${of(Math.min)}`;
}

function toChains(chains: readonly Chain[]): string[] {
  const each = chains.map(({ batches, records }) => `${records} in ${batches}`).sort();
  return [
    `${chains.length} chains of access records, one for each replica of consent. Records in batches: ${each.join('; ')}.`,
  ];
}

function toWaits({ samples, kinds }: Waits): string {
  const each = [...kinds].map(([kind, number]) => `${kind} ${number.toFixed(2)}`).sort();
  return `Connections that wait within a statement, on average of ${samples} samples: ${each.join(', ') || 'none'}.`;
}
