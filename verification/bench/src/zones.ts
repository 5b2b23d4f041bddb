import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { defaultDataDirectory } from '@phds/dev-stack/data-directory';
import { cpuSeconds } from './cpu.ts';
import type { Options } from './options.ts';
import { userName } from './prepare.ts';
import { prepareStack } from './prepare-stack.ts';
import { median } from './report.ts';
import { readFor, startReader } from './steady-reader.ts';
import type { ReadsJob, ReadsResult } from './steady-reads.ts';
import { writeSpellings } from './zone-spellings.ts';

/** Number of people whose data is read; their app is limited to 100 requests a second. */
const READERS = 300;
const READS_PER_SECOND = 50;

// The gateway's defaults, which the stack otherwise raises a hundredfold.
const DATA_LIMITS = {
  LIMIT_APP_USER_PER_MINUTE: '300',
  LIMIT_USER_ALL_APPS_PER_MINUTE: '900',
  LIMIT_APP_PER_MINUTE: '6000',
};

const APPS = 11;
const REQUESTS_PER_SECOND = APPS * 5;
const SPELLINGS = 20_000;
/** After this, no bucket remembers the last attack, so each round meets all of it that the limits allow. */
const WINDOW_MS = 61_000;

/** Reads during an interval, and the share of a core that health-data used. */
interface Stretch {
  readonly reads: ReadsResult;
  readonly cpu: number;
}

interface Round {
  readonly alone: Stretch;
  readonly attacked: Stretch;
  readonly attack: ReadsResult;
}

/**
 * Measures steady reads of many people, alone and while one person's apps request summaries with ever new spellings of time zones.
 */
export async function benchZones(options: Options): Promise<string> {
  const { seconds, rounds } = options;
  const users = Math.min(options.users, READERS);
  const environment = { gateway: DATA_LIMITS };
  await using prepared = await prepareStack('bench-zones', { ...options, users }, { environment });
  const { stack, side } = prepared;
  const file = join(defaultDataDirectory, 'bench-zones', 'spellings.txt');
  await writeSpellings(stack, { user: userName(1), apps: APPS, requests: SPELLINGS, file });
  const of = (requestsFile: string, perSecond: number): ReadsJob => {
    return { gateways: stack.gatewayUrls, requestsFile, perSecond, seconds };
  };
  const [reads, attack] = [of(side.job.requestsFile, READS_PER_SECOND), of(file, REQUESTS_PER_SECOND)];
  const [reader, attacker] = [startReader(), startReader()];
  const healthData = side.processes.get('health-data') ?? 0;
  const measure = async (): Promise<Stretch> => {
    const before = cpuSeconds(healthData);
    const result = await readFor(reader, reads);
    return { reads: result, cpu: (cpuSeconds(healthData) - before) / seconds };
  };
  const results: Round[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    const nextWindow = delay(round < rounds ? WINDOW_MS + seconds * 1000 : 0);
    const alone = await measure();
    const [attacked, under] = await Promise.all([measure(), readFor(attacker, attack)]);
    if (round > 0) results.push({ alone, attacked, attack: under });
    console.log(round === 0 ? 'warmed up' : `round ${round} of ${rounds}`);
    await nextWindow;
  }
  for (const child of [reader, attacker]) child.disconnect();
  return report(results, { ...options, users });
}

function report(rounds: readonly Round[], { users, readings, seconds }: Options): string {
  const ratios = rounds.map(
    ({ alone, attacked }) => attacked.reads.latencies.p50 / alone.reads.latencies.p50,
  );
  const answered = rounds.reduce((sum, { attack }) => sum + attack.latencies.count, 0);
  const refused = rounds.reduce((sum, { attack }) => sum + (attack.failures[429] ?? 0), 0);
  const failures = rounds.flatMap(({ alone, attacked }) => [alone, attacked].map(countFailures));
  const failed = failures.reduce((sum, count) => sum + count, 0);
  return [
    '',
    `${users} users with ${readings} readings, ${READS_PER_SECOND} reads/s; ${APPS} apps of one person with ${REQUESTS_PER_SECOND} requests/s, ` +
      `of which ${answered} were answered and ${refused} refused; ${rounds.length} rounds of ${seconds} s`,
    '',
    '| reads | p50 ms | p99 ms | health-data: % of a core |',
    '|---|---|---|---|',
    toRow(
      'alone',
      rounds.map(({ alone }) => alone),
    ),
    toRow(
      'attacked',
      rounds.map(({ attacked }) => attacked),
    ),
    '',
    `ratio of the medians, attacked / alone: median ${median(ratios).toFixed(2)} (${ratios.map((ratio) => ratio.toFixed(2)).join(', ')})`,
    '',
    failed === 0 ? 'no failed read' : `VOID: ${failed} failed reads`,
  ].join('\n');
}

function countFailures({ reads }: Stretch): number {
  return Object.values(reads.failures).reduce((sum, count) => sum + count, 0);
}

function toRow(name: string, stretches: readonly Stretch[]): string {
  const of = (value: (stretch: Stretch) => number) => median(stretches.map(value));
  const cells = [
    of(({ reads }) => reads.latencies.p50).toFixed(1),
    of(({ reads }) => reads.latencies.p99).toFixed(0),
    (of(({ cpu }) => cpu) * 100).toFixed(0),
  ];
  return `| ${[name, ...cells].join(' | ')} |`;
}
