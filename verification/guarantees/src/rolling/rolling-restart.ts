import type { ServiceName } from '@phds/local-stack/stack-processes';
import { expectStatus } from '@phds/running-system/partner-app';
import {
  type Replica,
  type ReplicatedStack,
  startReplicatedStack,
} from '@phds/running-system/replicated-stack';
import type { Answer } from '@phds/running-system/request';
import { HEART } from '@phds/running-system/revocation-ways';
import { Traffic } from '@phds/running-system/traffic';
import {
  type ConnectedPerson,
  connectPerson,
  HEART_PATH,
  sendWithLimit,
} from '@phds/running-system/working-system';
import { applyNextMigrations } from './next-migrations.ts';

interface RollingOptions {
  /** `SHUTDOWN_DELAY_MS` of every service. */
  readonly shutdownDelayMs: number;
  /** Restarts one replica of every service at once, then the other one; otherwise one replica after the other. */
  readonly allServicesAtOnce?: boolean;
  readonly say?: (line: string) => void;
  /** Ends the run before the next restart. */
  readonly signal?: AbortSignal;
}

/** Grants that were given, used, revoked and used again. */
interface Revocations {
  acknowledged: number;
  /** Reads that started after an acknowledged revocation, and how many got data. */
  readsAfter: number;
  stale: number;
  /** What failed, after the repeat at the other gateway. */
  readonly failures: string[];
}

interface RollingReport {
  readonly restarts: number;
  readonly reads: Pick<Traffic, 'answered' | 'refused' | 'failures'>;
  readonly revocations: Revocations;
}

const READERS = 8;
const REVOKERS = 2;
/** Callees first, as in a deployment. */
const ORDER: readonly ServiceName[] = ['consent', 'authorization', 'health-data', 'gateway'];

/** Under traffic, applies the migrations of a next release and restarts every replica, each when the one before is ready again. */
export async function restartRolling(options: RollingOptions): Promise<RollingReport> {
  const { say = () => undefined } = options;
  await using replicated = await startReplicatedStack(options);
  const { stack } = replicated;
  const connectAll = (prefix: string, count: number) =>
    Promise.all(Array.from({ length: count }, (_, index) => connectPerson(stack, `${prefix}-${index + 1}`)));
  const readers = await connectAll('reader', READERS);
  const revokers = await connectAll('revoker', REVOKERS);
  const ending = new AbortController();
  const revocations: Revocations = { acknowledged: 0, readsAfter: 0, stale: 0, failures: [] };
  const traffic = new Traffic(
    () => stack.gatewayUrls,
    readers.map(({ tokens }) => ({ path: HEART_PATH, bearer: () => tokens.accessToken })),
  );
  const revoking = revokers.map(async (person) => {
    while (!ending.signal.aborted)
      await grantAndRevoke(person, stack.gatewayUrls, revocations).catch((error) =>
        revocations.failures.push(String(error)),
      );
  });
  let restarts = 0;
  try {
    await applyNextMigrations(stack);
    say('the migrations of a next release are applied');
    for (const group of toGroups(replicated, options.allServicesAtOnce ?? false)) {
      options.signal?.throwIfAborted();
      await Promise.all(group.map((replica) => restart(replica, say)));
      restarts += group.length;
    }
  } finally {
    ending.abort();
    await Promise.all([traffic[Symbol.asyncDispose](), ...revoking]);
  }
  return { restarts, reads: traffic, revocations };
}

/** Acts at the first gateway and, if that fails, once more at the last one, as an app behind a balancer does. */
async function atOneOf<T>(gateways: readonly string[], act: (gateway: string) => Promise<T>): Promise<T> {
  const [first = '', last = ''] = gateways;
  return act(first).catch(() => act(last));
}

/** Reads at each gateway; at the other one if that has left, so that every read has an answer. */
function readAtEach(gateways: readonly string[], bearer: string): Promise<Answer[]> {
  const read = async (gateway: string) => {
    const answer = await sendWithLimit(gateway + HEART_PATH, { bearer });
    if (answer.status >= 500) throw new Error(describe(answer));
    return answer;
  };
  return Promise.all([gateways, gateways.toReversed()].map((order) => atOneOf(order, read)));
}

function describe({ status, text }: Answer): string {
  return `a read was answered ${status}: ${text.slice(0, 200)}`;
}

async function grantAndRevoke(
  { app, session }: ConnectedPerson,
  gateways: readonly string[],
  revocations: Revocations,
): Promise<void> {
  const order = gateways.toSorted(() => Math.random() - 0.5);
  const { accessToken, grantId } = await atOneOf(order, (gateway) =>
    app.at(gateway).connect(session, [HEART]),
  );
  // Every gateway that runs keeps the token in its cache from now on.
  for (const answer of await readAtEach(gateways, accessToken)) expectStatus(200, answer);
  const end = { method: 'DELETE', bearer: session };
  await atOneOf(order, async (gateway) =>
    expectStatus(200, await sendWithLimit(`${gateway}/partner/consent/grants/${grantId}`, end)),
  );
  revocations.acknowledged += 1;
  for (const answer of await readAtEach(gateways, accessToken)) {
    revocations.readsAfter += 1;
    if (answer.status === 200) revocations.stale += 1;
    else if (answer.status !== 401) revocations.failures.push(`after a revocation, ${describe(answer)}`);
  }
}

/** The replicas that restart together. */
function toGroups({ replicas }: ReplicatedStack, allServicesAtOnce: boolean): Replica[][] {
  const ofService = ORDER.map((service) => replicas.filter((each) => each.service === service));
  if (!allServicesAtOnce) return ofService.flat().map((replica) => [replica]);
  return [0, 1].map((index) => ofService.map((each) => each[index] as Replica));
}

async function restart({ process, restart: again }: Replica, say: (line: string) => void): Promise<void> {
  const startedAt = performance.now();
  await again();
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(`${process.name} stopped, and is ready again after ${seconds} s`);
}

/** What a rolling restart must not do; empty when it did none of it. */
export function findViolations({ reads, revocations }: RollingReport): string[] {
  const { failures, stale, readsAfter } = revocations;
  return [
    ...reads.failures.map((each) => `read failed: ${each}`),
    ...reads.refused.map((each) => `read failed before its repeat: ${each}`),
    ...failures.map((each) => `request failed: ${each}`),
    ...(stale === 0 ? [] : [`${stale} of ${readsAfter} reads after an acknowledged revocation got data`]),
  ];
}
