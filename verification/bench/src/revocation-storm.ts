import { setTimeout as delay } from 'node:timers/promises';
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
import { type Arrivals, arrive } from './arrivals.ts';

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
export interface StormResult {
  /** Time from the scheduled moment to the acknowledgement, by name of the way. Milliseconds. */
  readonly acknowledged: ReadonlyMap<string, number[]>;
  /** Revocations that were not acknowledged, or not effective when acknowledged. */
  readonly failures: string[];
}

/** Connects this many people, each with an app of their own. */
export async function prepareAccesses(stack: Stack, count: number, prefix: string): Promise<Access[]> {
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
export async function revokeSteadily(
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
