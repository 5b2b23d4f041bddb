import { giveFirstReadings } from '@phds/running-system/first-reading';
import { registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import {
  type Replica,
  type ReplicatedService,
  type ReplicatedStack,
  startReplicatedStack,
} from '@phds/running-system/replicated-stack';
import { HEART, type PersonWithApp } from '@phds/running-system/revocation-ways';
import { BalancedClient } from './balanced-client.ts';
import { RevocationRounds, type Revocations } from './revocations.ts';
import { type Reads, Traffic } from './traffic.ts';

export interface RollingOptions {
  readonly readsPerSecond: number;
  /** `SHUTDOWN_DELAY_MS` of every service. */
  readonly shutdownDelayMs: number;
  /** Restarts one replica of every service at once, then the other one; otherwise one replica after the other. */
  readonly allServicesAtOnce?: boolean;
  /** Kills the replicas, to show that the judge finds what is lost without draining. */
  readonly kill?: boolean;
  readonly say?: (line: string) => void;
}

export interface RollingReport {
  readonly restarts: number;
  readonly reads: Reads;
  readonly revocations: Revocations;
  /** Requests that were sent a second time, by the reason. */
  readonly repeated: Readonly<Record<string, number>>;
}

const READERS = 8;
const REVOKERS = 2;
/** Callees first, as in a deployment. */
const ORDER: readonly ReplicatedService[] = ['consent', 'authorization', 'health-data', 'gateway'];

/** Restarts every replica under traffic, each when the one before is ready again. */
export async function restartRolling(options: RollingOptions): Promise<RollingReport> {
  const { readsPerSecond, say = () => undefined } = options;
  await using replicated = await startReplicatedStack(options);
  const { stack } = replicated;
  const readers = await connectPeople(stack, 'reader', READERS);
  const revokers = await connectPeople(stack, 'revoker', REVOKERS);
  const tokens = await Promise.all(
    readers.map(async ({ app, session }) => (await app.connect(session, [HEART])).accessToken),
  );
  using client = new BalancedClient(stack.gatewayUrls);
  say(`${readsPerSecond} reads a second, and revocations`);
  const traffic = new Traffic(client, { tokens, perSecond: readsPerSecond });
  const rounds = new RevocationRounds(client, revokers);
  let restarts = 0;
  for (const group of toGroups(replicated, options.allServicesAtOnce ?? false)) {
    await Promise.all(group.map((replica) => restart(replica, options, say)));
    restarts += group.length;
  }
  const [reads, revocations] = await Promise.all([traffic.stop(), rounds.stop()]);
  return { restarts, reads, revocations, repeated: Object.fromEntries(client.repeated) };
}

async function connectPeople(
  stack: ReplicatedStack['stack'],
  prefix: string,
  count: number,
): Promise<PersonWithApp[]> {
  const users = Array.from({ length: count }, (_, index) => `${prefix}-${index + 1}`);
  await giveFirstReadings(stack, users);
  return Promise.all(
    users.map(async (user) => {
      const session = await signIn(stack, user);
      return { session, app: await registerApp(stack.gateway, session) };
    }),
  );
}

/** The replicas that restart together. */
function toGroups({ replicas }: ReplicatedStack, allServicesAtOnce: boolean): Replica[][] {
  const ofService = ORDER.map((service) => replicas.filter((each) => each.service === service));
  if (!allServicesAtOnce) return ofService.flat().map((replica) => [replica]);
  return [0, 1].map((index) => ofService.map((each) => each[index] as Replica));
}

async function restart(
  replica: Replica,
  { kill = false }: RollingOptions,
  say: (line: string) => void,
): Promise<void> {
  const startedAt = performance.now();
  await replica.restart({ kill });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  say(`${replica.process.name} ${kill ? 'was killed' : 'stopped'}, and is ready again after ${seconds} s`);
}

/** What a rolling restart must not do; empty when it did none of it. */
export function findViolations({ reads, revocations }: RollingReport): string[] {
  const { failed, stale, readsAfter } = revocations;
  return [
    ...reads.failed.map((each) => `read failed: ${each}`),
    ...failed.map((each) => `request failed: ${each}`),
    ...(stale === 0 ? [] : [`${stale} of ${readsAfter} reads after an acknowledged revocation got data`]),
  ];
}
