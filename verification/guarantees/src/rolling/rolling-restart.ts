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

/** An HTTP answer, or the reason why there was none. */
export interface BalancedAnswer {
  /** 0 without an answer. */
  readonly status: number;
  readonly text: string;
}

export interface BalancedRequest {
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
export class BalancedClient implements Disposable {
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

const STEP_MS = 10;
const MAX_IN_FLIGHT = 5_000;

/** Sends reads at a rate, whether earlier ones are answered or not, until it is stopped. */
class Traffic {
  readonly #client: BalancedClient;
  readonly #tokens: readonly string[];
  readonly #latencies: number[] = [];
  readonly #failed: string[] = [];
  readonly #inFlight = new Set<Promise<void>>();
  readonly #startedAt = performance.now();
  readonly #steps: NodeJS.Timeout;
  #sent = 0;

  constructor(
    client: BalancedClient,
    options: { readonly tokens: readonly string[]; readonly perSecond: number },
  ) {
    this.#client = client;
    this.#tokens = options.tokens;
    this.#steps = setInterval(() => {
      const due = ((performance.now() - this.#startedAt) / 1000) * options.perSecond;
      while (this.#sent < due && this.#inFlight.size < MAX_IN_FLIGHT) this.#send();
    }, STEP_MS);
  }

  /** Sends no more, and resolves when every read is answered. */
  async stop(): Promise<Reads> {
    clearInterval(this.#steps);
    const seconds = (performance.now() - this.#startedAt) / 1000;
    await Promise.all(this.#inFlight);
    const latencies = this.#latencies.toSorted((a, b) => a - b);
    return {
      sent: this.#sent,
      succeeded: this.#sent - this.#failed.length,
      failed: this.#failed,
      perSecond: this.#sent / seconds,
      medianMs: latencies[latencies.length >> 1] ?? 0,
      slowestMs: latencies.at(-1) ?? 0,
    };
  }

  #send(): void {
    const bearer = this.#tokens[this.#sent % this.#tokens.length] ?? '';
    this.#sent += 1;
    const read = this.#read(bearer).finally(() => this.#inFlight.delete(read));
    this.#inFlight.add(read);
  }

  async #read(bearer: string): Promise<void> {
    const startedAt = performance.now();
    const { status, text } = await this.#client.send(HEART_PATH, { bearer });
    this.#latencies.push(performance.now() - startedAt);
    if (status !== 200 || !text.includes('"value"')) this.#failed.push(`${status} ${text.slice(0, 200)}`);
  }
}

/** Connections that were granted, read, revoked and read again. */
interface Revocations {
  readonly acknowledged: number;
  /** Reads that started after an acknowledged revocation, and how many got data. */
  readonly readsAfter: number;
  readonly stale: number;
  /** Requests of these rounds that were not answered as they should, after the repeat. */
  readonly failed: readonly string[];
}

/** Grants and revokes over and over, until it is stopped. */
class RevocationRounds {
  readonly #client: BalancedClient;
  readonly #running: Promise<void>;
  readonly #failed: string[] = [];
  #acknowledged = 0;
  #readsAfter = 0;
  #stale = 0;
  #isOver = false;

  constructor(client: BalancedClient, people: readonly PersonWithApp[]) {
    this.#client = client;
    this.#running = Promise.all(people.map((person) => this.#playOn(person))).then(() => undefined);
  }

  async stop(): Promise<Revocations> {
    this.#isOver = true;
    await this.#running;
    return {
      acknowledged: this.#acknowledged,
      readsAfter: this.#readsAfter,
      stale: this.#stale,
      failed: this.#failed,
    };
  }

  async #playOn(person: PersonWithApp): Promise<void> {
    while (!this.#isOver) {
      await this.#play(person).catch((error: unknown) => void this.#failed.push((error as Error).message));
    }
  }

  async #play({ app, session }: PersonWithApp): Promise<void> {
    const { credentials } = app;
    const common = { ...credentials, redirect_uri: REDIRECT_URI };
    const asked = await this.#expect(201, '/oauth/authorize', { json: { ...common, scope: HEART } });
    const approval = { bearer: session, json: { scopes: [HEART] } };
    const { data } = await this.#expect(
      200,
      `/partner/consent/pending/${asked.pending_id}/approve`,
      approval,
    );
    const code = new URL(data.redirectUri).searchParams.get('code');
    const exchange = { ...common, grant_type: 'authorization_code', code };
    const { access_token: bearer } = await this.#expect(200, '/oauth/token', { json: exchange });
    // Every gateway keeps the token in its cache from now on.
    for (const first of this.#client.ready) await this.#expect(200, HEART_PATH, { bearer, first });
    const end = { method: 'DELETE', bearer: session };
    await this.#expect(200, `/partner/consent/grants/${data.grantId}`, end);
    this.#acknowledged += 1;
    for (const first of this.#client.ready)
      this.#judge(await this.#client.send(HEART_PATH, { bearer, first }));
  }

  #judge({ status, text }: BalancedAnswer): void {
    this.#readsAfter += 1;
    if (status === 200) this.#stale += 1;
    else if (status !== 401) this.#failed.push(`read after a revocation: ${status} ${text.slice(0, 200)}`);
  }

  // biome-ignore lint/suspicious/noExplicitAny: bodies of several shapes, whose use fails if they differ
  async #expect(expected: number, path: string, request: BalancedRequest): Promise<any> {
    const { status, text } = await this.#client.send(path, request);
    if (status !== expected) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`);
    return JSON.parse(text);
  }
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
