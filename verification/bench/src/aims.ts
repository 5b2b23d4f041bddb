import type { LargerStretch } from './half-rate.ts';
import { type HeartResult, measureHeart } from './heart.ts';
import type { Options } from './options.ts';
import { countFailures, median, report, toRatios } from './report.ts';

interface Run {
  readonly users: number;
  readonly result: HeartResult;
}

const RUNS = 3;
const AIMS = [
  { users: 1_000, ratio: 0.45 },
  { users: 3_000, ratio: 0.4 },
];
const CPU_AIM = 2.5;
const P99_AIM_MS = 25;

/** Runs `heart` with all its reads, with few and with many users, each several times on a newly started stack. */
export async function benchAims(options: Options): Promise<string> {
  const runs: Run[] = [];
  for (const { users } of AIMS) {
    for (let run = 1; run <= RUNS; run += 1) {
      const all = { ...options, users, beside: true };
      const result = await measureHeart(all);
      console.log(report(result, all));
      runs.push({ users, result });
    }
  }
  return reportRuns(runs);
}

function reportRuns(runs: readonly Run[]): string {
  const larger = runs[0]?.result.halfRate.beside.map(({ name }) => `${name}: p50, p99 ms`) ?? [];
  const columns = [
    'users',
    'requests/s × floor',
    'CPU × floor',
    'p99 ms at half the rate',
    ...larger.map((name) => `${name} (reads beside: p99)`),
  ];
  const failures = runs.reduce((sum, { result }) => sum + countFailures(result), 0);
  const aims = AIMS.map(
    ({ users, ratio }) =>
      `aims with ${users} users: requests/s × floor at least ${ratio}, CPU × floor at most ${CPU_AIM}, p99 at half the rate under ${P99_AIM_MS} ms`,
  );
  return [
    '',
    `| ${columns.join(' | ')} |`,
    `|${columns.map(() => '---').join('|')}|`,
    ...runs.map(toRow),
    '',
    ...aims,
    '',
    failures === 0 ? 'no failed request' : `VOID: ${failures} failed requests`,
  ].join('\n');
}

function toRow({ users, result }: Run): string {
  const { perSecond, cpu } = toRatios(result);
  const { alone, beside } = result.halfRate;
  const cells = [
    users,
    median(perSecond).toFixed(3),
    median(cpu).toFixed(2),
    alone.reads.latencies.p99.toFixed(1),
    ...beside.map(toCell),
  ];
  return `| ${cells.join(' | ')} |`;
}

function toCell({ reads, larger }: LargerStretch): string {
  const { p50, p99 } = larger.latencies;
  return `${p50.toFixed(1)}, ${p99.toFixed(1)} (${reads.latencies.p99.toFixed(1)})`;
}
