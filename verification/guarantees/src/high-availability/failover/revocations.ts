import { setTimeout as sleep } from 'node:timers/promises';
import { runAsOperator } from '@phds/e2e/operator-command';
import { giveFirstReadings } from '@phds/running-system/ingestion';
import { expectStatus, type PartnerApp, registerApp, type Tokens } from '@phds/running-system/partner-app';
import { signIn } from '@phds/running-system/people';
import { send } from '@phds/running-system/request';
import { HEART } from '@phds/running-system/revocation-ways';
import type { RunningStack } from '@phds/running-system/running-stack';
import { HEART_PATH } from '@phds/running-system/working-system';
import { startPeriodic } from '@phds/service-kit/periodic';
import { eventually } from '@phds/test-kit/conditions';
import { verifyChain } from '../../judge.ts';
import type { Cluster } from '../cluster.ts';

const REVOCATIONS = 20;
const KEPT = 20;

/**
 * Replicates asynchronously, against deploy/postgres/patroni.yml, and promotes a standby that lacks acknowledged revocations. Checks
 * that everything older is suspended until an operator confirms. Returns what is wrong.
 */
export async function proveSuspension(
  cluster: Cluster,
  stack: RunningStack,
  say: (text: string) => void,
): Promise<string[]> {
  const consents = await connectPeople(stack, 'lagging', REVOCATIONS + KEPT);
  await replicateAsynchronously(cluster);
  const leader = await cluster.leader();
  const standbys = await cluster.standbys();
  for (const standby of standbys) await standby.stopPatroni();
  say('replication is asynchronous, and both standbys are down');
  const leaving = consents.accesses.slice(KEPT);
  for (const { session, tokens } of leaving) {
    const url = `${stack.gateway}/partner/consent/grants/${tokens.grantId}`;
    expectStatus(200, await send(url, { method: 'DELETE', bearer: session }));
  }
  await leader.kill();
  say(`${REVOCATIONS} revocations were acknowledged by ${leader.name} alone, which is killed now`);
  for (const standby of standbys) await standby.start();
  say(`${(await cluster.leader(leader)).name} leads and lacks them`);
  await cluster.untilReachable();

  const suspended = await readAll(stack, consents, consents.accesses);
  const status = await readSuspension(stack);
  say(
    `before a confirmation: reads ${toText(suspended)}; ${status.consent.suspendedGrants} grants are suspended`,
  );
  await confirmDatabases(stack);
  const kept = await readAll(stack, consents, consents.accesses.slice(0, KEPT));
  const lost = await readAll(stack, consents, leaving);
  say(`after it: reads of kept consents ${toText(kept)}; of those with a lost revocation ${toText(lost)}`);

  const reads = (people: number) => people * stack.gatewayUrls.length;
  return [
    suspended.get(401) !== reads(KEPT + REVOCATIONS) && `reads before a confirmation: ${toText(suspended)}`,
    status.consent.latest?.kind !== 'detected' && 'the lost revocations were not detected',
    kept.get(200) !== reads(KEPT) && `reads of kept consents after the confirmation: ${toText(kept)}`,
    lost.get(200) !== reads(REVOCATIONS) && 'the promoted standby has the revocations: nothing was proved',
  ].filter((each) => each !== false);
}

async function replicateAsynchronously(cluster: Cluster): Promise<void> {
  const settings = {
    synchronous_mode: 'off',
    synchronous_mode_strict: 'false',
    maximum_lag_on_failover: String(2 ** 30),
  };
  const words = Object.entries(settings).flatMap(([name, value]) => ['-s', `${name}=${value}`]);
  await cluster.patronictl(await cluster.leader(), ['edit-config', 'phds', '--force', ...words]);
  await eventually(
    async () =>
      (await cluster.query('SHOW synchronous_standby_names')).rows[0].synchronous_standby_names === '',
    { intervalMs: 200 },
  );
}

/** A way in which the cluster changes its leader, or loses a node, without losing an acknowledged change. */
interface ClusterFault {
  readonly name: string;
  readonly what: string;
  /** Part of the revocations during this fault. */
  readonly share: number;
  /** Causes the fault. Resolves when the cluster works again. */
  play(cluster: Cluster, say: (text: string) => void): Promise<void>;
  /** Brings the cluster back to three nodes, after the revocations. */
  repair?(cluster: Cluster): Promise<void>;
}

const startMissing = async (cluster: Cluster) => {
  for (const node of cluster.nodes) await node.start();
};

export const FAULTS: readonly ClusterFault[] = [
  {
    name: 'leader-killed',
    what: 'every process of the leading node is killed at once: Postgres, Patroni and etcd',
    share: 1,
    play: async (cluster, say) => {
      const leader = await cluster.leader();
      await leader.kill();
      say(`${leader.name}, the leader, is killed`);
      say(`${(await cluster.leader(leader)).name} leads`);
      await cluster.untilReachable();
    },
    repair: startMissing,
  },
  {
    name: 'leader-frozen',
    what: 'the leading node stops without ending, keeps its connections, and continues when another one leads',
    share: 0.2,
    play: async (cluster, say) => {
      const leader = await cluster.leader();
      const thaw = leader.freeze();
      say(`${leader.name}, the leader, is frozen`);
      try {
        say(`${(await cluster.leader(leader)).name} leads`);
        await cluster.untilReachable();
      } finally {
        thaw();
      }
      say(`${leader.name} continues, and believes for a moment that it still leads`);
    },
  },
  {
    name: 'standby-killed',
    what: 'every process of one standby is killed at once',
    share: 0.2,
    play: async (cluster, say) => {
      const [standby] = await cluster.standbys();
      await standby?.kill();
      say(`${standby?.name}, a standby, is killed`);
      await cluster.untilLost(standby?.name ?? '');
      say('Patroni has noticed it');
    },
    repair: startMissing,
  },
  {
    name: 'switchover',
    what: 'an operator moves the leadership to another node, as for maintenance',
    share: 0.2,
    play: async (cluster, say) => {
      const leader = await cluster.leader();
      const [candidate] = await cluster.standbys();
      const names = ['--leader', leader.name, '--candidate', candidate?.name ?? ''];
      await cluster.patronictl(leader, ['switchover', 'phds', ...names, '--force']);
      say(`${leader.name} gave the leadership to ${(await cluster.leader(leader)).name}`);
      await cluster.untilReachable();
    },
  },
];

const INTERVAL_MS = 1_000;

/** Samples how far the standbys are behind the leader. */
interface ReplayLag extends AsyncDisposable {
  /** Milliseconds from a commit until a standby shows it: of all samples the median and the maximum. */
  summarize(): string;
}

export function watchReplayLag(cluster: Cluster): ReplayLag {
  const samples: number[] = [];
  const look = async () => {
    const lag = 'coalesce(extract(epoch FROM replay_lag) * 1000, 0)::float8';
    const { rows } = await cluster.query(
      `SELECT ${lag} AS lag FROM pg_stat_replication WHERE state = 'streaming'`,
    );
    samples.push(...rows.map((row) => row.lag));
  };
  // During a failover there is no leader to ask.
  const looking = startPeriodic(look, { intervalMs: INTERVAL_MS, onFailure: () => undefined });
  return {
    summarize: () => {
      const sorted = samples.toSorted((a, b) => a - b);
      const [median, maximum] = [sorted[sorted.length >> 1] ?? 0, sorted.at(-1) ?? 0];
      return `replay lag of the standbys: median ${median.toFixed(1)} ms, maximum ${maximum.toFixed(0)} ms, ${sorted.length} samples`;
    },
    [Symbol.asyncDispose]: () => looking[Symbol.asyncDispose](),
  };
}

/** One person's consent, and how far its revocation got. */
interface Access {
  readonly session: string;
  readonly tokens: Tokens;
  /** When the revocation was first requested; null before. Milliseconds of the monotonic clock, as below. */
  askedAt: number | null;
  /** When the revocation was acknowledged; null before. */
  acknowledgedAt: number | null;
}

/** What reads of one access at one gateway returned. `none` is a broken connection or no answer in time. */
type ReadResult = number | 'none';

const PARALLEL = 8;

/** The app of all these people, and their accesses. */
interface Consents {
  readonly app: PartnerApp;
  readonly accesses: readonly Access[];
}

/** Creates people with one reading each and connects them with one app. */
async function connectPeople(stack: RunningStack, label: string, people: number): Promise<Consents> {
  const app = await registerApp(stack.gateway, await signIn(stack, `developer-${label}`));
  const users = Array.from({ length: people }, (_, index) => `${label}-${index + 1}`);
  const accesses: Access[] = [];
  const waiting = users.values();
  const connectNext = async () => {
    for (const user of waiting) {
      await giveFirstReadings(stack, [user]);
      const session = await signIn(stack, user);
      const tokens = await app.connect(session, [HEART]);
      const read = expectStatus(200, await app.read(tokens.accessToken, HEART_PATH));
      if (read.body.data.length !== 1) throw new Error(`not the one reading: ${read.text}`);
      accesses.push({ session, tokens, askedAt: null, acknowledgedAt: null });
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, connectNext));
  return { app, accesses };
}

/** Reads at a gateway. Never throws. */
async function readAt(app: PartnerApp, { tokens }: Access, gateway: string): Promise<ReadResult> {
  try {
    const { status, body } = await app.at(gateway).read(tokens.accessToken, HEART_PATH);
    if (status !== 200 && Array.isArray(body?.data)) throw new Error(`data with status ${status}`);
    return status;
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('data with')) throw error;
    return 'none';
  }
}

/** The result of one fault. `wrong` is empty if every promise was kept. */
interface Verdict {
  readonly fault: string;
  readonly outcome: RevocationOutcome;
  /** Acknowledged revocations whose access reads data afterwards, counted once for each gateway. */
  readonly lost: number;
  readonly chain: string;
  readonly wrong: readonly string[];
}

/** Revokes in the middle of the fault, and checks that every acknowledged revocation is in effect and that nobody has to confirm. */
export async function proveNothingLost(
  fault: ClusterFault,
  parts: {
    readonly cluster: Cluster;
    readonly stack: RunningStack;
    readonly revocations: number;
    readonly say: (text: string) => void;
    readonly signal: AbortSignal;
  },
): Promise<Verdict> {
  const { cluster, stack, say } = parts;
  const revocations = Math.max(20, Math.round(parts.revocations * fault.share));
  const consents = await connectPeople(stack, fault.name, revocations + KEPT);
  say(`${revocations + KEPT} people are connected; revoking ${revocations} of them`);
  const run = new RevocationRun({
    consents,
    gateways: stack.gatewayUrls,
    kept: KEPT,
    midway: { share: 0.5, run: () => fault.play(cluster, say) },
    signal: parts.signal,
  });
  const outcome = await run.play();
  await fault.repair?.(cluster);
  await cluster.untilComplete();
  say('the cluster has a leader and two standbys; reading everything again');
  const revoked = await readAll(stack, consents, consents.accesses.slice(KEPT));
  const kept = await readAll(stack, consents, consents.accesses.slice(0, KEPT));
  const chain = await verifyChain(stack);
  const { consent, authorization } = await readSuspension(stack);
  const gateways = stack.gatewayUrls.length;
  const wrong = [
    outcome.acknowledged !== revocations && `${outcome.acknowledged} of ${revocations} were acknowledged`,
    outcome.staleReads > 0 && `${outcome.staleReads} reads after an acknowledged revocation returned data`,
    outcome.wronglyRefused > 0 &&
      `${outcome.wronglyRefused} reads of a consent that nobody revoked were refused`,
    revoked.get(401) !== revocations * gateways && `reads of revoked consents afterwards: ${toText(revoked)}`,
    kept.get(200) !== KEPT * gateways && `reads of kept consents afterwards: ${toText(kept)}`,
    !chain.ok && `chain: ${chain.text}`,
    (consent.latest ?? authorization.latest) !== null && 'an operator would have to confirm the database',
  ].filter((each) => each !== false);
  return { fault: fault.name, outcome, lost: revoked.get(200) ?? 0, chain: chain.text, wrong };
}

function toText(counts: ReadonlyMap<unknown, number>): string {
  return [...counts].map(([status, times]) => `${times} × ${status}`).join(', ');
}

/** The lines to print. */
export function toLines({ fault, outcome, lost, chain, wrong }: Verdict): string[] {
  const seconds = (milliseconds: number) => (milliseconds / 1000).toFixed(1);
  const { acknowledged, before, repeated, refusedAfter, staleReads } = outcome;
  return [
    `${fault}: ${wrong.length === 0 ? 'kept' : 'BROKEN'}`,
    `  ${acknowledged} revocations acknowledged, ${before} of them before; ${repeated} requests repeated; ${lost} lost`,
    `  ${refusedAfter} reads after an acknowledgement answered without data, ${staleReads} with data`,
    `  reads: ${toText(new Map(Object.entries(outcome.reads)))}`,
    `  longest without an acknowledged revocation ${seconds(outcome.longestWithoutRevocation)} s, without a released read ${seconds(outcome.longestWithoutRead)} s`,
    `  ${chain}`,
    ...wrong.map((each) => `  WRONG: ${each}`),
  ];
}

const SETTLED = { timeoutMs: 60_000, intervalMs: 200 } as const;

/** Whether an operator has to confirm a database, and what is suspended until then. */
interface Suspension {
  readonly consent: { readonly latest: { readonly kind: string } | null; readonly suspendedGrants: number };
  readonly authorization: {
    readonly latest: { readonly kind: string } | null;
    readonly suspendedApps: number;
  };
}

/** Statuses of a read of each of these accesses at every gateway, with how often each occurred. Waits while a gateway answers 503. */
async function readAll(
  stack: RunningStack,
  { app }: Consents,
  accesses: readonly Access[],
): Promise<ReadonlyMap<ReadResult, number>> {
  const counts = new Map<ReadResult, number>();
  const waiting = accesses.flatMap((access) => stack.gatewayUrls.map((url) => ({ access, url }))).values();
  const readNext = async () => {
    for (const { access, url } of waiting) {
      const result = await eventually(async () => {
        const status = await readAt(app, access, url);
        return status === 503 || status === 'none' ? false : status;
      }, SETTLED);
      counts.set(result, (counts.get(result) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, readNext));
  return counts;
}

export async function readSuspension(stack: RunningStack): Promise<Suspension> {
  return (await runAsOperator(stack, ['restore', 'status'])).document;
}

export async function confirmDatabases(stack: RunningStack): Promise<void> {
  const { code, errors } = await runAsOperator(stack, [
    'restore',
    'confirm',
    '--confirm',
    'believe',
    '--reason',
    'a proof',
  ]);
  if (code !== 0) throw new Error(`the restore could not be confirmed: ${errors}`);
}

interface RevocationOptions {
  readonly consents: Consents;
  readonly gateways: readonly string[];
  /** Accesses that are kept; all others are revoked. */
  readonly kept: number;
  /** Called once, when this share of the revocations is acknowledged. The revocations continue while it runs. */
  readonly midway: { readonly share: number; readonly run: () => Promise<void> };
  readonly signal: AbortSignal;
}

/** What happened to the revocations and to the reads beside them. */
interface RevocationOutcome {
  readonly acknowledged: number;
  /** The revocations that were acknowledged before `midway` ran. */
  readonly before: number;
  /** Requests for a revocation that failed and were repeated. */
  readonly repeated: number;
  /** Reads by their status. */
  readonly reads: Readonly<Record<string, number>>;
  /** Reads that started after the acknowledgement of their revocation and were answered without data. */
  readonly refusedAfter: number;
  /** Reads that started after the acknowledgement of their revocation and returned data. */
  readonly staleReads: number;
  /** Reads of a consent whose revocation nobody had requested, refused as if it were revoked. */
  readonly wronglyRefused: number;
  /** The longest time between two acknowledgements, and between two released reads of kept accesses. Milliseconds. */
  readonly longestWithoutRevocation: number;
  readonly longestWithoutRead: number;
}

const REVOKERS = 4;
const READERS = 4;
/** Pause of each revoker after a revocation: longer while `midway` runs, so that it falls in the middle of the revocations. */
const REVOCATION_MS = 40;
const MIDWAY_REVOCATION_MS = 400;
const READ_MS = 20;
const REPEAT_MS = 200;

/** Revokes all accesses but the kept ones while readers read at every gateway, and repeats until each is acknowledged. */
class RevocationRun {
  readonly #options: RevocationOptions;
  readonly #kept: readonly Access[];
  readonly #leaving: readonly Access[];
  readonly #reads: Record<string, number> = {};
  readonly #acknowledgements: number[] = [];
  readonly #released: number[] = [];
  #before = 0;
  #repeated = 0;
  #refusedAfter = 0;
  #staleReads = 0;
  #wronglyRefused = 0;
  #midway: Promise<void> | null = null;
  #isMidway = false;
  #isOver = false;

  constructor(options: RevocationOptions) {
    this.#options = options;
    this.#kept = options.consents.accesses.slice(0, options.kept);
    this.#leaving = options.consents.accesses.slice(options.kept);
  }

  async play(): Promise<RevocationOutcome> {
    const waiting = this.#leaving.values();
    const readers = Array.from({ length: READERS }, (_, index) => this.#readAgainAndAgain(index));
    try {
      await Promise.all(Array.from({ length: REVOKERS }, (_, index) => this.#revokeAll(waiting, index)));
      await this.#midway;
    } finally {
      this.#isOver = true;
      await Promise.all(readers);
    }
    return {
      acknowledged: this.#acknowledgements.length,
      before: this.#before,
      repeated: this.#repeated,
      reads: this.#reads,
      refusedAfter: this.#refusedAfter,
      staleReads: this.#staleReads,
      wronglyRefused: this.#wronglyRefused,
      longestWithoutRevocation: longestGap(this.#acknowledgements),
      longestWithoutRead: longestGap(this.#released),
    };
  }

  async #revokeAll(waiting: Iterable<Access>, index: number): Promise<void> {
    let turn = index;
    for (const access of waiting) {
      while (!(await this.#revoke(access, this.#gateway(turn)))) {
        this.#options.signal.throwIfAborted();
        this.#repeated += 1;
        turn += 1;
        await sleep(REPEAT_MS);
      }
      // The first reads after the acknowledgement, at every gateway.
      await Promise.all(this.#options.gateways.map((gateway) => this.#read(access, gateway)));
      this.#startMidway();
      turn += 1;
      await sleep(this.#isMidway ? MIDWAY_REVOCATION_MS : REVOCATION_MS);
    }
  }

  async #revoke(access: Access, gateway: string): Promise<boolean> {
    access.askedAt ??= performance.now();
    const url = `${gateway}/partner/consent/grants/${access.tokens.grantId}`;
    const answer = await send(url, { method: 'DELETE', bearer: access.session }).catch(() => null);
    if (answer?.status !== 200) return false;
    access.acknowledgedAt = performance.now();
    this.#acknowledgements.push(access.acknowledgedAt);
    return true;
  }

  #startMidway(): void {
    const { share, run } = this.#options.midway;
    if (this.#midway !== null || this.#acknowledgements.length < share * this.#leaving.length) return;
    this.#before = this.#acknowledgements.length;
    this.#isMidway = true;
    this.#midway = run().finally(() => {
      this.#isMidway = false;
    });
    // Awaited when all revocations are acknowledged.
    this.#midway.catch(() => undefined);
  }

  /** Reads a kept access and one that is being revoked, in turn. */
  async #readAgainAndAgain(index: number): Promise<void> {
    for (let turn = index; !this.#isOver; turn += 1) {
      const accesses = turn % 2 === 0 ? this.#kept : this.#leaving;
      const access = accesses[Math.floor(Math.random() * accesses.length)] as Access;
      const result = await this.#read(access, this.#gateway(turn >> 1));
      if (result === 200 && accesses === this.#kept) this.#released.push(performance.now());
      await sleep(READ_MS);
    }
  }

  async #read(access: Access, gateway: string): Promise<ReadResult> {
    const wasAcknowledged = access.acknowledgedAt !== null;
    const result = await readAt(this.#options.consents.app, access, gateway);
    this.#reads[result] = (this.#reads[result] ?? 0) + 1;
    if (wasAcknowledged && result === 200) this.#staleReads += 1;
    else if (wasAcknowledged && result !== 'none') this.#refusedAfter += 1;
    if (access.askedAt === null && (result === 401 || result === 403)) this.#wronglyRefused += 1;
    return result;
  }

  #gateway(turn: number): string {
    const { gateways } = this.#options;
    return gateways[turn % gateways.length] as string;
  }
}

/** The longest time between two of these instants, which are in no particular order. */
function longestGap(instants: readonly number[]): number {
  const sorted = instants.toSorted((a, b) => a - b);
  const gaps = sorted.slice(1).map((instant, index) => instant - (sorted[index] as number));
  return gaps.reduce((longest, gap) => Math.max(longest, gap), 0);
}
