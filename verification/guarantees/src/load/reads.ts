import { expectStatus, type PartnerApp } from '@phds/running-system/partner-app';
import { send } from '@phds/running-system/request';
import type { AccessFacts, TraceEvent } from '../protocol/trace.ts';
import type { Wire, WireAnswer } from './wire.ts';

/** What the load observed during one fault. Sent between processes as JSON. */
export interface Tally {
  /** Reads that started after the acknowledged end of their access and were answered. */
  trials: number;
  /** The trials that were the first at their gateway, sent as soon as the acknowledgement arrived. */
  firstTrials: number;
  /** Reads by result: a status, or `none` for a broken or refused connection. */
  readonly reads: Record<string, number>;
  /** Acknowledged endings by their kind. */
  readonly endings: Record<string, number>;
  /** Requests that were sent a second time with the same proof. */
  repeats: number;
  /** Rounds that a failed request interrupted and that were started again. */
  setbacks: number;
  /** The longest time until a response or refusal. Milliseconds. */
  slowestMs: number;
  /** Violations by the broken promise. */
  readonly violations: Record<string, Violation>;
}

/** The number of violations of a promise, and the first one. */
export interface Violation {
  count: number;
  readonly first: string;
}

/** The most important promise, by its name among the violations. */
export const DATA_AFTER_REVOCATION = 'data after revocation';
export const LIVE_TOKEN_REFUSED = 'live token refused';
const PROOF_USED_TWICE = 'proof used twice at a gateway';
export const PROOF_USED_ELSEWHERE = 'proof used at two gateways';

export function newTally(): Tally {
  const counters = { trials: 0, firstTrials: 0, repeats: 0, setbacks: 0, slowestMs: 0 };
  return { ...counters, reads: {}, endings: {}, violations: {} };
}

/** Adds one to a named count. */
export function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** Records a violation of a promise. */
export function addViolation({ violations }: Pick<Tally, 'violations'>, promise: string, how: string): void {
  const violation = violations[promise];
  if (violation === undefined) violations[promise] = { count: 1, first: how };
  else violation.count += 1;
}

/** One sentence for each broken promise. */
export function toSentences({ violations }: Pick<Tally, 'violations'>): string[] {
  return Object.entries(violations).map(([promise, { count: times, first }]) =>
    times === 1 ? `${promise}: ${first}` : `${promise}, ${times} times; the first: ${first}`,
  );
}

/** A scope and a path that it opens. */
export interface Reading {
  readonly scope: string;
  readonly path: string;
}

export const HEART: Reading = { scope: 'read:health-data:heart', path: '/api/v1/health-data/heart' };
/** The same data through the FHIR interface. */
export const HEART_BY_FHIR: Reading = {
  scope: HEART.scope,
  path: '/fhir/R4/Observation?category=vital-signs',
};
export const PROFILE: Reading = { scope: 'read:profile', path: '/api/v1/profile' };

/**
 * `live`: opens data. `ending`: an end was requested, so any response is possible. `dead`: the end was acknowledged. `narrowed`:
 * the withdrawal of heart rates was acknowledged. `void`: the end may be undone, so the token is not checked any more.
 */
type TokenState = 'live' | 'ending' | 'dead' | 'narrowed' | 'void';

/** Header fields of a request. */
type Fields = Readonly<Record<string, string>>;

/** An access token and what is known about it. */
export interface HeldToken {
  readonly secret: string;
  /** The header fields of a GET of this path with it. */
  present(path: string): Promise<Fields>;
  readonly facts: Omit<AccessFacts, 'scope'>;
  state: TokenState;
  /** The entity tag of its last read of heart rates. */
  etag: string | null;
}

/** Whether this read must be refused from now on. */
export function isOver({ state }: HeldToken, { scope }: Reading): boolean {
  return state === 'dead' || (state === 'narrowed' && scope === HEART.scope);
}

const MOST_OVER = 400;
const RECENT = 24;
/** Share of the reads that use an ended token; those read several times at once. */
const SHARE_OVER = 0.6;

/** The tokens of the steady readers. */
export class TokenPool {
  readonly #live = new Set<HeldToken>();
  /** Newest last. */
  #over: HeldToken[] = [];

  addLive(token: HeldToken): void {
    this.#live.add(token);
  }

  /** Marks a token as ended after the acknowledgement. The oldest ended tokens are dropped. */
  end(token: HeldToken): void {
    this.#live.delete(token);
    this.#over.push(token);
    if (this.#over.length > 2 * MOST_OVER) this.#over = this.#over.slice(-MOST_OVER);
  }

  remove(token: HeldToken): void {
    this.#live.delete(token);
    this.#over = this.#over.filter((each) => each !== token);
  }

  /** A token to read with: mostly an ended one, half of those from the latest; null when there is none. */
  pick(): HeldToken | null {
    const over = this.#over.length > 0 && (this.#live.size === 0 || Math.random() < SHARE_OVER);
    if (!over) return any([...this.#live]);
    return any(Math.random() < 0.5 ? this.#over.slice(-RECENT) : this.#over);
  }
}

function any<T>(values: readonly T[]): T | null {
  return values[Math.floor(Math.random() * values.length)] ?? null;
}

/** Sets an app's status as its developer through this gateway. Throws unless acknowledged. */
export async function setStatus(
  gateway: string,
  { clientId }: PartnerApp,
  session: string,
  status: 'active' | 'suspended' | 'revoked',
): Promise<void> {
  const url = `${gateway}/developer/apps/${clientId}/status`;
  expectStatus(200, await send(url, { bearer: session, json: { status } }));
}

/** Maximum time until a response or refusal. Milliseconds. */
export const ANSWER_LIMIT_MS = 10_000;

/** Share of the reads with live tokens that are conditional. */
const SHARE_CONDITIONAL = 0.2;
/** Share of the reads with a proof that are sent again, as a thief would who saw the request. */
const SHARE_REPEATED = 0.3;

/** REDIS_COMMAND_TIMEOUT_MS. A gateway that waits longer for Redis decides alone. */
const REDIS_TIMEOUT_MS = 250;

/** One read of the load. */
interface Attempt {
  readonly gateway: number;
  /** Whether it is the first at its gateway since its token began or ended. */
  readonly first?: boolean;
  readonly trace: TraceEvent[];
}

/** Reads, and counts and records the results. */
export class Reads {
  tally: Tally;
  readonly #wires: readonly Wire[];
  /** The first uniform 401; all others must be identical. */
  #uniform: string | null = null;
  #next = 0;

  constructor(wires: readonly Wire[], tally: Tally) {
    this.#wires = wires;
    this.tally = tally;
  }

  get gateways(): number {
    return this.#wires.length;
  }

  /** Reads at a gateway and adds the result to the trace. Returns the result. */
  async read(token: HeldToken, reading: Reading, at: Attempt): Promise<WireAnswer> {
    const conditional = reading === HEART && token.etag !== null && Math.random() < SHARE_CONDITIONAL;
    const headers: Fields = {
      ...(await token.present(reading.path)),
      ...(conditional && { 'If-None-Match': token.etag ?? '' }),
    };
    const { state } = token;
    const answer = await this.#ask(token, reading, headers, at);
    const { tally } = this;
    // An end that was asked for since the request was sent is a reason for a refusal.
    if (state === 'live' && token.state === 'live' && isUniform(answer)) {
      addViolation(
        tally,
        LIVE_TOKEN_REFUSED,
        `${findField(answer.head, 'x-request-id')} at gateway ${at.gateway + 1}`,
      );
    }
    if (headers['DPoP'] !== undefined && Math.random() < SHARE_REPEATED) {
      await this.#repeat(answer, { token, reading, headers, at });
    }
    return answer;
  }

  /** Sends a request with a proof again. Only one of the two may get data. */
  async #repeat(
    first: WireAnswer,
    { token, reading, headers, at }: { token: HeldToken; reading: Reading; headers: Fields; at: Attempt },
  ): Promise<void> {
    const { tally } = this;
    const gateway = Math.floor(Math.random() * this.gateways);
    const second = await this.#ask(token, reading, headers, { gateway, trace: at.trace });
    const promise = gateway === at.gateway ? PROOF_USED_TWICE : PROOF_USED_ELSEWHERE;
    const slowest = Math.max(first.milliseconds, second.milliseconds);
    if (promise === PROOF_USED_ELSEWHERE && slowest >= REDIS_TIMEOUT_MS) return;
    tally.repeats += 1;
    if (isData(first) && isData(second)) {
      addViolation(tally, promise, `${second.status} at gateway ${gateway + 1}`);
    }
  }

  async #ask(token: HeldToken, reading: Reading, headers: Fields, at: Attempt): Promise<WireAnswer> {
    const wasOver = isOver(token, reading);
    const { tally } = this;
    const startedAt = Date.now();
    const wire = this.#wires[at.gateway] as Wire;
    const answer = await wire.get(reading.path, headers);
    tally.slowestMs = Math.max(tally.slowestMs, answer.milliseconds);
    if (answer.late) {
      addViolation(tally, 'hang', `no answer from gateway ${at.gateway + 1} within ${ANSWER_LIMIT_MS} ms`);
    }
    count(tally.reads, answer.status === 0 ? 'none' : String(answer.status));
    const data = isData(answer);
    if (reading === HEART && answer.status === 200) token.etag = findField(answer.head, 'etag');
    const request = this.#nameOf(answer);
    const access = { ...token.facts, scope: reading.scope };
    at.trace.push({ kind: 'request-started', at: startedAt, request, access });
    at.trace.push({ kind: 'answered', at: Date.now(), request, data });
    if (isUniform(answer)) this.#compare(answer);
    // The token had ended before the read started, and nobody tried to undo that before the response arrived.
    if (wasOver && isOver(token, reading) && answer.status !== 0) {
      tally.trials += 1;
      if (at.first === true) tally.firstTrials += 1;
      if (data)
        addViolation(
          tally,
          DATA_AFTER_REVOCATION,
          `${request} got ${answer.status} at gateway ${at.gateway + 1}`,
        );
    }
    return answer;
  }

  #nameOf({ status, head }: WireAnswer): string {
    const id = status === 0 ? null : findField(head, 'x-request-id');
    this.#next += 1;
    return id ?? `unnamed-${this.#next}`;
  }

  #compare({ head, body }: WireAnswer): void {
    const text = `${withoutVolatile(head)}\n${body}`;
    this.#uniform ??= text;
    if (text !== this.#uniform) addViolation(this.tally, '401s differ', JSON.stringify(text));
  }
}

/** Whether the response was computed from a person's rows. */
function isData({ status }: WireAnswer): boolean {
  return (status >= 200 && status < 300) || status === 304 || status === 404;
}

function isUniform({ status, body, whole }: WireAnswer): boolean {
  return status === 401 && whole && !body.includes('"TOKEN_EXPIRED"');
}

function findField(head: string, name: string): string | null {
  return new RegExp(`\\r\\n${name}: *([^\\r]*)`, 'i').exec(head)?.[1] ?? null;
}

// Removes `Date` and the fields about the connection.
function withoutVolatile(head: string): string {
  return head.replace(/\r\n(date|connection|keep-alive):[^\r]*/gi, '');
}
