import { setTimeout as delay } from 'node:timers/promises';
import { type Arrivals, arrive, type Latencies, summarize } from '@phds/guarantees/load/arrivals';
import type { Stack } from '@phds/local-stack/stack';
import { expectStatus, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import {
  connect,
  DELETE_OF_THE_GRANT,
  type Held,
  OTHER_WAYS,
  type PersonWithApp,
  type RevocationWay,
} from '@phds/running-system/revocation-ways';
import type { LoadResult } from './load-job.ts';
import { startLoad } from './measure.ts';
import type { Options } from './options.ts';
import { prepareStack } from './prepare-stack.ts';
import { toTable } from './report.ts';

/** The result for one state of Redis. */
interface Measured {
  readonly name: string;
  readonly reads: LoadResult;
  readonly storm: StormResult;
}

const GATEWAYS = 3;
const REVOCATIONS_PER_SECOND = 16;
// Before this, the processes are mostly busy with JIT compilation.
const WARM_UP_SECONDS = 90;
// Time in each state before measuring, until the preparation has settled and caches are stable.
const SETTLING_SECONDS = 10;
/** Minimum share of the requested rate. */
const SHARE_OF_RATE = 0.98;

/**
 * Measures the time until a revocation is acknowledged while three gateways serve a steady rate of reads, with Redis running and
 * stopped.
 */
export async function benchRevocation(options: Options): Promise<string> {
  await using prepared = await prepareStack('bench', options, { gateways: GATEWAYS });
  const { stack, side } = prepared;
  const { rate, seconds } = options;
  if (!stack.redis.owned) throw new Error('needs a Redis of its own, to stop it; unset REDIS_URL');
  const reads = { gateways: stack.gatewayUrls, requestsFile: side.job.requestsFile, perSecond: rate };
  using reader = startLoad();
  const measure = async (name: string, duration: number, before?: () => Promise<void>): Promise<Measured> => {
    const accesses = await prepareAccesses(
      stack,
      REVOCATIONS_PER_SECOND * duration,
      `bench-${name}-${Date.now()}`,
    );
    await before?.();
    await reader.run({ ...reads, seconds: SETTLING_SECONDS });
    const [read, storm] = await Promise.all([
      // An access is read for a second before its revocation.
      reader.run({ ...reads, seconds: duration + 1 }),
      revokeSteadily({ perSecond: REVOCATIONS_PER_SECOND, seconds: duration }, accesses, stack.gatewayUrls),
    ]);
    console.log(`measured: ${name}`);
    return { name, reads: read, storm };
  };
  await measure('warm-up', WARM_UP_SECONDS);
  const stretches = [
    await measure('up', seconds),
    await measure('stopped', seconds, () => stack.redis.stop()),
  ];
  return report(stretches, options);
}

function report(stretches: readonly Measured[], { users, rate, seconds }: Options): string {
  const faults = stretches.flatMap((stretch) => findFaults(stretch, rate));
  return [
    '',
    `${users} users, ${GATEWAYS} gateways, ${seconds} s for each state of Redis; asked for: ${rate} reads/s, ${REVOCATIONS_PER_SECOND} revocations/s`,
    '',
    toTable(['Redis', 'acknowledgement of', 'n', ...LATENCIES], stretches.flatMap(toRows)),
    '',
    toTable(
      ['Redis', 'reads/s', ...LATENCIES, 'revocations/s'],
      stretches.map((stretch) => toReadsRow(stretch, seconds)),
    ),
    '',
    ...(faults.length === 0
      ? ['every read and revocation as expected']
      : faults.map((fault) => `VOID: ${fault}`)),
  ].join('\n');
}

function findFaults({ name, reads, storm }: Measured, rate: number): string[] {
  return [
    ...(reads.failures > 0 ? [`Redis ${name}: ${reads.failures} reads failed`] : []),
    ...(reads.perSecond < rate * SHARE_OF_RATE ? [`Redis ${name}: the rate of reads was missed`] : []),
    ...storm.failures.slice(0, 10).map((failure) => `Redis ${name}: ${failure}`),
  ];
}

function toRows({ name: redis, storm }: Measured): unknown[][] {
  const all = ['**all**', [...storm.acknowledged.values()].flat()] as const;
  return [...storm.acknowledged, all].map(([name, milliseconds]) => [
    redis,
    name,
    milliseconds.length,
    ...toCells(summarize(milliseconds)),
  ]);
}

function toReadsRow({ name, reads, storm }: Measured, seconds: number): unknown[] {
  const revocations = [...storm.acknowledged.values()].flat().length / seconds;
  return [name, reads.perSecond.toFixed(0), ...toCells(reads), revocations.toFixed(1)];
}

const LATENCIES = ['p50 ms', 'p99 ms', 'max ms'];

function toCells({ p50, p99, max }: Latencies): string[] {
  return [p50, p99, max].map((value) => value.toFixed(0));
}

// Revocations by a single request, whose response is the acknowledgement.
const SINGLE_REQUESTS: ReadonlySet<string> = new Set([
  'revoking every grant at once',
  'revocation of the access token',
  'revocation of the refresh token',
  'narrowing of the grant',
  'replay of the code',
  'suspension of the app',
  'revocation of the app',
]);

/** The measured ways, in their order. */
const WAYS: readonly RevocationWay[] = [
  DELETE_OF_THE_GRANT,
  ...OTHER_WAYS.filter(({ name }) => SINGLE_REQUESTS.has(name)),
];

const PARALLEL = 16;
/** Minimum time between the reads that cache an access and its revocation. */
const KNOWN_FOR_MS = 1_000;
const HEART_PATH = '/api/v1/health-data/heart';

/** An access that is waiting to be revoked. */
interface Access {
  readonly person: PersonWithApp;
  readonly held: Held;
}

/** The result of a storm. */
interface StormResult {
  /** Time from the scheduled moment to the acknowledgement, by name of the way. Milliseconds. */
  readonly acknowledged: ReadonlyMap<string, number[]>;
  /** Revocations that were not acknowledged, or not effective when acknowledged. */
  readonly failures: string[];
}

/** Connects this many people, each with an app of their own. */
async function prepareAccesses(stack: Stack, count: number, prefix: string): Promise<Access[]> {
  const [gateway = ''] = stack.gatewayUrls;
  const accesses: Access[] = [];
  let next = 0;
  const worker = async () => {
    while (next < count) {
      next += 1;
      const session = await signIn(stack, `${prefix}-${next}`);
      const person = { session, app: await registerApp(gateway, session, { name: 'Benchmark' }) };
      accesses.push({ person, held: await connect(person) });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return accesses;
}

/**
 * Revokes one access at each arrival, alternating ways and gateways. Every gateway has cached the token by then, and the first read
 * at each after the acknowledgement must be refused.
 */
async function revokeSteadily(
  arrivals: Arrivals,
  accesses: readonly Access[],
  gateways: readonly string[],
): Promise<StormResult> {
  // Half an interval more, so that revocations do not coincide with the reads that cache another access.
  const lead = KNOWN_FOR_MS + 500 / arrivals.perSecond;
  const result = { acknowledged: new Map(WAYS.map(({ name }) => [name, [] as number[]])), failures: [] };
  await arrive(arrivals, async (index, scheduled) => {
    const way = WAYS[index % WAYS.length] as RevocationWay;
    const gateway = gateways[Math.floor(index / WAYS.length) % gateways.length] as string;
    const moment = scheduled + lead;
    try {
      await endAccess(way, accesses[index] as Access, { gateway, gateways, moment }, result);
    } catch (error) {
      note(result, `${way.name}: ${(error as Error).message}`);
    }
  });
  return result;
}

async function endAccess(
  way: RevocationWay,
  { person, held }: Access,
  at: { readonly gateway: string; readonly gateways: readonly string[]; readonly moment: number },
  result: StormResult,
): Promise<void> {
  const readEverywhere = () =>
    Promise.all(at.gateways.map((each) => person.app.at(each).read(held.accessToken, HEART_PATH)));
  for (const answer of await readEverywhere()) expectStatus(200, answer);
  await delay(Math.max(0, at.moment - performance.now()));
  await way.end(person, held, at.gateway);
  result.acknowledged.get(way.name)?.push(performance.now() - at.moment);
  const refusal = way.leaves === 'nothing' ? 401 : 403;
  for (const answer of await readEverywhere()) expectStatus(refusal, answer);
}

function note({ failures }: StormResult, failure: string): void {
  failures.push(failure.slice(0, 200));
}
