import type { ServiceName } from '@phds/local-stack/stack-processes';
import { giveFirstReadings } from '@phds/running-system/ingestion';
import { REDIRECT_URI, registerApp } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import {
  type Replica,
  type ReplicatedStack,
  startReplicatedStack,
} from '@phds/running-system/replicated-stack';
import { HEART, type PersonWithApp } from '@phds/running-system/revocation-ways';
import { HEART_PATH } from '@phds/running-system/working-system';
import { arrive, summarize } from '../load/arrivals.ts';
import { applyNextMigrations } from './next-migrations.ts';

/** An HTTP answer, or the reason why there was none. */
interface BalancedAnswer {
  /** 0 without an answer. */
  readonly status: number;
  readonly text: string;
}

interface BalancedRequest {
  readonly method?: string;
  readonly bearer?: string;
  readonly json?: unknown;
  /** The gateway of the first attempt; otherwise the next one that is ready. */
  readonly first?: string;
}

const CHECK_INTERVAL_MS = 100;
const ANSWER_LIMIT_MS = 30_000;

/**
 * A client in front of several gateways, like an app behind a balancer that checks `/readyz` ten times a second. A request without an
 * answer, or with a status of 500 or above, is repeated once, at another gateway.
 */
class BalancedClient implements Disposable {
  readonly #gateways: readonly string[];
  readonly #ready: Set<string>;
  readonly #checks: NodeJS.Timeout;
  #next = 0;
  /** Requests that were repeated, by the reason. */
  readonly repeated = new Map<string, number>();

  constructor(gateways: readonly string[]) {
    this.#gateways = gateways;
    this.#ready = new Set(gateways);
    this.#checks = setInterval(() => void this.#check(), CHECK_INTERVAL_MS);
  }

  /** The gateways that were ready at their last check. */
  get ready(): readonly string[] {
    return [...this.#ready];
  }

  async send(path: string, request: BalancedRequest = {}): Promise<BalancedAnswer> {
    const first = request.first ?? this.#choose();
    const answer = await ask(first + path, request);
    if (answer.status !== 0 && answer.status < 500) return answer;
    const reason = answer.status === 0 ? answer.text : `${answer.status} ${answer.text.slice(0, 120)}`;
    this.repeated.set(reason, (this.repeated.get(reason) ?? 0) + 1);
    return ask(this.#choose(first) + path, request);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#checks);
  }

  /** The next ready gateway other than this one; if there is none, any other. */
  #choose(except?: string): string {
    const others = (urls: Iterable<string>) => [...urls].filter((url) => url !== except);
    const ready = others(this.#ready);
    const choice = ready.length > 0 ? ready : others(this.#gateways);
    this.#next += 1;
    return choice[this.#next % choice.length] ?? '';
  }

  async #check(): Promise<void> {
    await Promise.all(
      this.#gateways.map(async (url) => {
        const { status } = await ask(`${url}/readyz`, {});
        if (status === 200) this.#ready.add(url);
        else this.#ready.delete(url);
      }),
    );
  }
}

async function ask(url: string, { method, bearer, json }: BalancedRequest): Promise<BalancedAnswer> {
  try {
    const response = await fetch(url, {
      method: method ?? (json === undefined ? 'GET' : 'POST'),
      headers: {
        ...(bearer !== undefined && { Authorization: `Bearer ${bearer}` }),
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      redirect: 'manual',
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
    return { status: response.status, text: await response.text() };
  } catch (error) {
    const { cause = error } = error as { cause?: unknown };
    return { status: 0, text: String((cause as { code?: string }).code ?? cause) };
  }
}

/** The reads of one run. */
interface Reads {
  readonly sent: number;
  readonly succeeded: number;
  /** Without data after the repeat, described. */
  readonly failed: readonly string[];
  /** Reads a second that were sent. */
  readonly perSecond: number;
  /** Milliseconds until the answer, repeats included. */
  readonly medianMs: number;
  readonly slowestMs: number;
}

/** Sends reads at a rate, whether earlier ones are answered or not, until the signal. */
async function sendReads(
  client: BalancedClient,
  options: { readonly tokens: readonly string[]; readonly perSecond: number },
  signal: AbortSignal,
): Promise<Reads> {
  const { tokens, perSecond } = options;
  const latencies: number[] = [];
  const failed: string[] = [];
  const startedAt = performance.now();
  let lastSentAt = startedAt;
  const read = async (index: number) => {
    const sentAt = performance.now();
    lastSentAt = sentAt;
    const { status, text } = await client.send(HEART_PATH, { bearer: tokens[index % tokens.length] ?? '' });
    latencies.push(performance.now() - sentAt);
    if (status !== 200 || !text.includes('"value"')) failed.push(`${status} ${text.slice(0, 200)}`);
  };
  await arrive({ perSecond, seconds: Number.POSITIVE_INFINITY }, read, signal);
  const sent = latencies.length;
  const { p50, max } = summarize(latencies);
  return {
    sent,
    succeeded: sent - failed.length,
    failed,
    perSecond: sent / ((lastSentAt - startedAt) / 1000),
    medianMs: p50,
    slowestMs: max,
  };
}

/** Connections that were granted, read, revoked and read again. */
interface Revocations {
  acknowledged: number;
  /** Reads that started after an acknowledged revocation, and how many got data. */
  readsAfter: number;
  stale: number;
  /** Requests of these rounds that were not answered as they should, after the repeat. */
  readonly failed: string[];
}

/** Lets people grant and revoke over and over, until the signal. */
async function revokeAgainAndAgain(
  client: BalancedClient,
  people: readonly PersonWithApp[],
  signal: AbortSignal,
): Promise<Revocations> {
  const revocations: Revocations = { acknowledged: 0, readsAfter: 0, stale: 0, failed: [] };
  const playOn = async (person: PersonWithApp) => {
    while (!signal.aborted) {
      await grantAndRevoke(client, person, revocations).catch((error: unknown) => {
        revocations.failed.push((error as Error).message);
      });
    }
  };
  await Promise.all(people.map(playOn));
  return revocations;
}

async function grantAndRevoke(
  client: BalancedClient,
  { app, session }: PersonWithApp,
  revocations: Revocations,
): Promise<void> {
  const common = { ...app.credentials, redirect_uri: REDIRECT_URI };
  const asked = await expectAnswer(client, 201, '/oauth/authorize', { json: { ...common, scope: HEART } });
  const approval = { bearer: session, json: { scopes: [HEART] } };
  const approve = `/partner/consent/pending/${asked.pending_id}/approve`;
  const { data } = await expectAnswer(client, 200, approve, approval);
  const code = new URL(data.redirectUri).searchParams.get('code');
  const exchange = { ...common, grant_type: 'authorization_code', code };
  const { access_token: bearer } = await expectAnswer(client, 200, '/oauth/token', { json: exchange });
  // Every gateway keeps the token in its cache from now on.
  for (const first of client.ready) await expectAnswer(client, 200, HEART_PATH, { bearer, first });
  const end = { method: 'DELETE', bearer: session };
  await expectAnswer(client, 200, `/partner/consent/grants/${data.grantId}`, end);
  revocations.acknowledged += 1;
  for (const first of client.ready) {
    const { status, text } = await client.send(HEART_PATH, { bearer, first });
    revocations.readsAfter += 1;
    if (status === 200) revocations.stale += 1;
    else if (status !== 401)
      revocations.failed.push(`read after a revocation: ${status} ${text.slice(0, 200)}`);
  }
}

async function expectAnswer(
  client: BalancedClient,
  expected: number,
  path: string,
  request: BalancedRequest,
  // biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes, whose use fails if they differ
): Promise<any> {
  const { status, text } = await client.send(path, request);
  if (status !== expected) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
  return JSON.parse(text);
}

interface RollingOptions {
  readonly readsPerSecond: number;
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
const ORDER: readonly ServiceName[] = ['consent', 'authorization', 'health-data', 'gateway'];

/** Under traffic, applies the migrations of a next release and restarts every replica, each when the one before is ready again. */
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
  const ending = new AbortController();
  const traffic = Promise.all([
    sendReads(client, { tokens, perSecond: readsPerSecond }, ending.signal),
    revokeAgainAndAgain(client, revokers, ending.signal),
  ]);
  let restarts = 0;
  try {
    await applyNextMigrations(stack);
    say('the migrations of a next release are applied');
    for (const group of toGroups(replicated, options.allServicesAtOnce ?? false)) {
      options.signal?.throwIfAborted();
      await Promise.all(group.map((replica) => restart(replica, options, say)));
      restarts += group.length;
    }
  } finally {
    ending.abort();
  }
  const [reads, revocations] = await traffic;
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
