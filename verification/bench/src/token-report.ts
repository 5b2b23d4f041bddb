import type { Round } from './measure.ts';
import type { Options } from './options.ts';
import { median, micros, toRatios } from './report.ts';
import type { TokenRequest } from './token-job.ts';

export type TokenRounds = readonly Record<'oidc-provider' | 'service', Round>[];

/** Formats the result as Markdown. The ratios are those within each round, which noise affects least. */
export function reportTokens(
  measured: ReadonlyMap<TokenRequest, TokenRounds>,
  { connections, rounds, seconds }: Options,
): string {
  const all = [...measured.values()].flat();
  const failures = all
    .flatMap((round) => Object.values(round))
    .reduce((sum, stretch) => sum + stretch.failures, 0);
  const processes = Object.keys(all[0]?.service.cpu ?? {});
  return [
    '',
    `${connections} connections, ${rounds} rounds of ${seconds} s`,
    '',
    '| request | oidc-provider: requests/s | service: requests/s | × | by round | p50 ms | p99 ms | CPU × |',
    '|---|---|---|---|---|---|---|---|',
    ...[...measured].map(([request, of]) => toRow(request, of)),
    '',
    `| CPU µs a request | oidc-provider | ${processes.join(' | ')} |`,
    `|---|---|${processes.map(() => '---|').join('')}`,
    ...[...measured].map(([request, of]) => toProcessRow(request, of, processes)),
    '',
    failures === 0 ? 'no failed request' : `VOID: ${failures} failed requests`,
  ].join('\n');
}

function toRow(request: TokenRequest, rounds: TokenRounds): string {
  const { perSecond, cpu } = toRatios({ rounds, base: 'oidc-provider', other: 'service' });
  const of = (side: keyof TokenRounds[number], value: (round: Round) => number) =>
    median(rounds.map((round) => value(round[side])));
  const cells = [
    request,
    of('oidc-provider', (round) => round.perSecond).toFixed(0),
    of('service', (round) => round.perSecond).toFixed(0),
    median(perSecond).toFixed(3),
    perSecond.map((ratio) => ratio.toFixed(3)).join(', '),
    of('service', ({ p50 }) => p50),
    of('service', ({ p99 }) => p99),
    median(cpu).toFixed(1),
  ];
  return `| ${cells.join(' | ')} |`;
}

function toProcessRow(request: TokenRequest, rounds: TokenRounds, processes: readonly string[]): string {
  const of = (side: keyof TokenRounds[number], name: string) =>
    median(rounds.map((round) => micros(round[side].cpu[name] ?? 0, round[side]))).toFixed(0);
  const cells = [of('oidc-provider', 'oidc-provider'), ...processes.map((name) => of('service', name))];
  return `| ${[request, ...cells].join(' | ')} |`;
}
