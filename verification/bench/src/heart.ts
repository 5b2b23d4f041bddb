import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defaultDataDirectory } from '@phds/local-stack/data-directory';
import type { Stack } from '@phds/local-stack/stack';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import type { LoadResult, SteadyJob } from './load-job.ts';
import { forkProgram, measureInTurn, type Round, type Side, startLoad } from './measure.ts';
import type { Options } from './options.ts';
import { LARGE_USER, type PreparedStack, prepareStack, SCOPE, userName } from './prepare-stack.ts';
import { measureCpu } from './processes.ts';
import { median, sumOf, toMicros, toSideColumns, toSideRows, toTable, toVerdict } from './report.ts';

const STACK = 'bench';
const HEART = '/api/v1/health-data/heart';
const DAY_MS = 86_400_000;
/** Arrivals a second of the larger reads. */
const LARGER_PER_SECOND = 20;

/** A read of the large user that costs more than the newest page. */
interface LargerRead {
  readonly name: string;
  /** As in a ReadJob. */
  readonly requestsFile: string;
}

/** Reads at half the rate that the service can serve: alone, and beside larger reads. */
interface HalfRate {
  /** CPU of all processes in seconds. */
  readonly alone: { readonly reads: LoadResult; readonly cpu: number };
  readonly beside: readonly {
    readonly name: string;
    readonly reads: LoadResult;
    readonly larger: LoadResult;
  }[];
}

interface HeartResult {
  readonly rounds: readonly Readonly<Record<'floor' | 'service', Round>>[];
  readonly halfRate: HalfRate;
}

/** Reports the newest 20 heart readings of random users through the whole path, beside the floor program. */
export async function benchHeart(options: Options): Promise<string> {
  return report(await measureHeart(options), options);
}

function report(result: HeartResult, { users, readings, connections, seconds }: Options): string {
  const { rounds, halfRate } = result;
  const compared = { base: 'floor', processes: Object.keys(rounds[0]?.service.cpu ?? {}) };
  const { alone, beside } = halfRate;
  const toReads = (name: string, { perSecond, p50, p99 }: LoadResult, micros = '') =>
    [name, perSecond.toFixed(0), p50.toFixed(1), p99.toFixed(1), micros] as const;
  return [
    '',
    `${users} users, ${users * readings} readings, ${connections} connections, ${rounds.length} rounds of ${seconds} s`,
    '',
    toTable(toSideColumns(compared), toSideRows(rounds, compared)),
    '',
    toTable(
      ['at half the rate', 'requests/s', 'p50 ms', 'p99 ms', 'CPU µs a request'],
      [
        toReads('service', alone.reads, toMicros(alone.cpu, alone.reads).toFixed(0)),
        ...beside.flatMap(({ name, reads, larger }) => [
          toReads(`service, beside ${name}`, reads),
          toReads(name, larger),
        ]),
      ],
    ),
    '',
    toVerdict(resultsOf(result)),
  ].join('\n');
}

function resultsOf({ rounds, halfRate: { alone, beside } }: HeartResult): LoadResult[] {
  const besides = beside.flatMap(({ reads, larger }) => [reads, larger]);
  return [...rounds.flatMap((round) => Object.values(round)), alone.reads, ...besides];
}

/** Measures the floor program and the service on the same database in turn, and then the service at half its rate. */
async function measureHeart(options: Options): Promise<HeartResult> {
  await using prepared = await prepareStack(STACK, options);
  const { stack, side } = prepared;
  const directory = join(defaultDataDirectory, STACK);
  const largerReads = options.beside ? await prepareLargerReads(stack, directory) : [];
  using floor = await startFloor(prepared, options.users);
  const sides = { floor, service: side };
  const rounds = await measureInTurn(sides, options.rounds, console.log);
  const rate = median(rounds.map(({ service }) => service.perSecond));
  const halfRate = await measureHalfRate(side, rate, largerReads);
  return { rounds, halfRate };
}

/** Starts the floor program on the database of a stack. */
async function startFloor({ stack, side }: PreparedStack, users: number): Promise<Side & Disposable> {
  const floor = forkProgram('floor.ts', { DATABASE_URL: stack.databases['health-data'].url });
  const [{ port }] = (await once(floor, 'message')) as [{ port: number }];
  const requestsFile = join(dirname(side.job.requestsFile), `floor-${users}.txt`);
  if (!existsSync(requestsFile)) {
    const paths = Array.from({ length: users }, (_, n) => `/heart/${userName(n + 1)}`);
    writeFileSync(requestsFile, paths.join('\n'));
  }
  const processes = new Map([
    ['floor', floor.pid ?? 0],
    ['postgres', side.processes.get('postgres') ?? 0],
  ]);
  const job = { ...side.job, url: `http://127.0.0.1:${port}`, requestsFile };
  return { job, processes, [Symbol.dispose]: () => floor.disconnect() };
}

async function measureHalfRate(
  { job, processes }: Side,
  peak: number,
  largerReads: readonly LargerRead[],
): Promise<HalfRate> {
  using reader = startLoad();
  using largerReader = startLoad();
  const { seconds, requestsFile } = job;
  const half: SteadyJob = { gateways: [job.url], perSecond: Math.round(peak / 2), seconds, requestsFile };
  // The first reads open connections and compile the reader.
  await reader.run({ ...half, seconds: 1 });
  const { result: reads, cpu } = await measureCpu(processes, () => reader.run(half));
  console.log('measured at half the rate');
  const beside: HalfRate['beside'][number][] = [];
  for (const { name, requestsFile: largerFile } of largerReads) {
    const largerJob = { ...half, perSecond: LARGER_PER_SECOND, requestsFile: largerFile };
    // The first reads of a kind prepare its statements.
    await largerReader.run({ ...largerJob, seconds: 1 });
    const [alongside, larger] = await Promise.all([reader.run(half), largerReader.run(largerJob)]);
    beside.push({ name, reads: alongside, larger });
    console.log(`measured beside ${name}`);
  }
  return { alone: { reads, cpu: sumOf(cpu) }, beside };
}

/** Connects the large user to two apps, one of them limited by `dataFrom`, and writes a file of requests for each read. */
async function prepareLargerReads(stack: Stack, directory: string): Promise<LargerRead[]> {
  const [gateway = ''] = stack.gatewayUrls;
  const developer = await signIn(stack, 'bench-developer');
  const person = await signIn(stack, LARGE_USER);
  const [app, limitedApp] = [
    await registerApp(gateway, developer, { name: 'Larger reads' }),
    await registerApp(gateway, developer, { name: 'Limited larger reads' }),
  ];
  const { accessToken: all } = await app.connect(person, [SCOPE]);
  const { accessToken: limited } = await limitedApp.connect(person, [SCOPE], { dataFrom: daysAgo(200) });
  const reads = [
    { name: 'page 1,000', file: 'page.txt', request: `${HEART}?page=1000 ${all}` },
    { name: 'dataFrom grant', file: 'data-from.txt', request: `${HEART} ${limited}` },
    {
      name: 'filter',
      file: 'filter.txt',
      request: `${HEART}?type=HRV&from=${daysAgo(300)}&to=${daysAgo(100)} ${all}`,
    },
  ];
  return reads.map(({ name, file, request }) => {
    const requestsFile = join(directory, file);
    writeFileSync(requestsFile, request);
    return { name, requestsFile };
  });
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
}
