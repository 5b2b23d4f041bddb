import { type Latencies, summarize } from './latencies.ts';
import type { Options } from './options.ts';
import { prepareStack } from './prepare-stack.ts';
import { prepareAccesses, revokeSteadily, type StormResult } from './revocation-storm.ts';
import { readFor, startReader } from './steady-reader.ts';
import type { ReadsResult } from './steady-reads.ts';

/** The result for one state of Redis. */
interface Measured {
  readonly name: string;
  readonly reads: ReadsResult;
  readonly storm: StormResult;
}

const GATEWAYS = 3;
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
  const { rate, revocations, seconds } = options;
  if (!stack.redis.owned) throw new Error('needs a Redis of its own, to stop it; unset REDIS_URL');
  const reads = { gateways: stack.gatewayUrls, requestsFile: side.job.requestsFile, perSecond: rate };
  const reader = startReader();
  const measure = async (name: string, duration: number, before?: () => Promise<void>): Promise<Measured> => {
    const accesses = await prepareAccesses(stack, revocations * duration, `bench-${name}-${Date.now()}`);
    await before?.();
    await readFor(reader, { ...reads, seconds: SETTLING_SECONDS });
    const [read, storm] = await Promise.all([
      // An access is read for a second before its revocation.
      readFor(reader, { ...reads, seconds: duration + 1 }),
      revokeSteadily({ perSecond: revocations, seconds: duration }, accesses, stack.gatewayUrls),
    ]);
    console.log(`measured: ${name}`);
    return { name, reads: read, storm };
  };
  await measure('warm-up', WARM_UP_SECONDS);
  const stretches = [
    await measure('up', seconds),
    await measure('stopped', seconds, () => stack.redis.stop()),
  ];
  reader.disconnect();
  return report(stretches, options);
}

function report(stretches: readonly Measured[], { users, rate, revocations, seconds }: Options): string {
  const faults = stretches.flatMap((stretch) => findFaults(stretch, rate));
  return [
    '',
    `${users} users, ${GATEWAYS} gateways, ${seconds} s for each state of Redis; asked for: ${rate} reads/s, ${revocations} revocations/s`,
    '',
    '| Redis | acknowledgement of | n | p50 ms | p99 ms | max ms |',
    '|---|---|---|---|---|---|',
    ...stretches.flatMap(toRows),
    '',
    '| Redis | reads/s | p50 ms | p99 ms | max ms | revocations/s |',
    '|---|---|---|---|---|---|',
    ...stretches.map((stretch) => toReadsRow(stretch, seconds)),
    '',
    ...(faults.length === 0
      ? ['every read and revocation as expected']
      : faults.map((fault) => `VOID: ${fault}`)),
  ].join('\n');
}

function findFaults({ name, reads, storm }: Measured, rate: number): string[] {
  const failures = Object.entries(reads.failures);
  return [
    ...failures.map(([status, count]) => `Redis ${name}: ${count} reads answered ${status}`),
    ...(reads.perSecond < rate * SHARE_OF_RATE ? [`Redis ${name}: the rate of reads was missed`] : []),
    ...storm.failures.slice(0, 10).map((failure) => `Redis ${name}: ${failure}`),
  ];
}

function toRows({ name: redis, storm }: Measured): string[] {
  const all = ['**all**', [...storm.acknowledged.values()].flat()] as const;
  return [...storm.acknowledged, all].map(
    ([name, milliseconds]) =>
      `| ${redis} | ${name} | ${milliseconds.length} | ${toCells(summarize(milliseconds))} |`,
  );
}

function toReadsRow({ name, reads, storm }: Measured, seconds: number): string {
  const revocations = [...storm.acknowledged.values()].flat().length / seconds;
  return `| ${name} | ${reads.perSecond.toFixed(0)} | ${toCells(reads.latencies)} | ${revocations.toFixed(1)} |`;
}

function toCells({ p50, p99, max }: Latencies): string {
  return [p50, p99, max].map((value) => value.toFixed(0)).join(' | ');
}
