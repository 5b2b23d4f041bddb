import type { ServiceName } from '@phds/local-stack/stack-processes';
import {
  type Replica,
  type ReplicatedStack,
  startReplicatedStack,
} from '@phds/running-system/replicated-stack';
import { DELETE_OF_THE_GRANT, HEART } from '@phds/running-system/revocation-ways';
import { type Ask, Traffic } from '@phds/running-system/traffic';
import { type ConnectedPerson, connectPerson, HEART_PATH } from '@phds/running-system/working-system';
import { applyNextMigrations } from './next-migrations.ts';

interface RollingOptions {
  /** `SHUTDOWN_DELAY_MS` of every service. */
  readonly shutdownDelayMs: number;
  /** Restarts one replica of every service at once, then the other one; otherwise one replica after the other. */
  readonly allServicesAtOnce?: boolean;
  /** Kills the replicas, to show that the judge finds what is lost without draining. */
  readonly kill?: boolean;
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
  /** Rounds that failed at both gateways. */
  readonly failures: string[];
}

interface RollingReport {
  readonly restarts: number;
  readonly reads: Pick<Traffic, 'answered' | 'failures'>;
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
  const traffic = new Traffic(() => stack.gatewayUrls, readers.map(toRead));
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
      await Promise.all(group.map((replica) => restart(replica, options)));
      restarts += group.length;
    }
  } finally {
    ending.abort();
    await Promise.all([traffic[Symbol.asyncDispose](), ...revoking]);
  }
  return { restarts, reads: traffic, revocations };
}

function toRead({ tokens }: ConnectedPerson): Ask {
  const headers = { authorization: `Bearer ${tokens.accessToken}` };
  return (gateway) => fetch(gateway + HEART_PATH, { headers });
}

/** Acts at a gateway and, if that fails, once more at another one, as an app behind a balancer does. */
async function atOneOf<T>(gateways: readonly string[], act: (gateway: string) => Promise<T>): Promise<T> {
  const [first = '', second = ''] = gateways.toSorted(() => Math.random() - 0.5);
  return act(first).catch(() => act(second));
}

async function grantAndRevoke(
  { app, session }: ConnectedPerson,
  gateways: readonly string[],
  revocations: Revocations,
): Promise<void> {
  const tokens = await atOneOf(gateways, (gateway) => app.at(gateway).connect(session, [HEART]));
  const readAt = (gateway: string) =>
    app
      .at(gateway)
      .read(tokens.accessToken, HEART_PATH)
      .then(
        ({ status }) => status,
        () => null,
      );
  // Every gateway that runs keeps the token in its cache from now on.
  const before = await Promise.all(gateways.map(readAt));
  if (!before.includes(200)) throw new Error(`reads before a revocation: ${before}`);
  const held = { ...tokens, code: '', codeVerifier: '' };
  await atOneOf(gateways, (gateway) => DELETE_OF_THE_GRANT.end({ app, session }, held, gateway));
  revocations.acknowledged += 1;
  for (const status of await Promise.all(gateways.map(readAt))) {
    if (status === null) continue;
    revocations.readsAfter += 1;
    if (status === 200) revocations.stale += 1;
  }
}

/** The replicas that restart together. */
function toGroups({ replicas }: ReplicatedStack, allServicesAtOnce: boolean): Replica[][] {
  const ofService = ORDER.map((service) => replicas.filter((each) => each.service === service));
  if (!allServicesAtOnce) return ofService.flat().map((replica) => [replica]);
  return [0, 1].map((index) => ofService.map((each) => each[index] as Replica));
}

async function restart(
  replica: Replica,
  { kill = false, say = () => undefined }: RollingOptions,
): Promise<void> {
  const startedAt = performance.now();
  await replica.restart({ kill });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(`${replica.process.name} ${kill ? 'was killed' : 'stopped'}, and is ready again after ${seconds} s`);
}

/** What a rolling restart must not do; empty when it did none of it. */
export function findViolations({ reads, revocations }: RollingReport): string[] {
  const { failures, stale, readsAfter } = revocations;
  return [
    ...reads.failures.map((each) => `read failed: ${each}`),
    ...failures.map((each) => `request failed: ${each}`),
    ...(stale === 0 ? [] : [`${stale} of ${readsAfter} reads after an acknowledged revocation got data`]),
  ];
}
