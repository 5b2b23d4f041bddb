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

export function newTally(): Tally {
  return { trials: 0, firstTrials: 0, reads: {}, endings: {}, setbacks: 0, slowestMs: 0, violations: {} };
}

/** Adds one to a named count. */
export function count(counts: Record<string, number>, name: string): void {
  counts[name] = (counts[name] ?? 0) + 1;
}

/** Records a violation of a promise. */
export function addViolation({ violations }: Tally, promise: string, how: string): void {
  const violation = violations[promise];
  if (violation === undefined) violations[promise] = { count: 1, first: how };
  else violation.count += 1;
}

/** One sentence for each broken promise. */
export function toSentences({ violations }: Tally): string[] {
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
export const PROFILE: Reading = { scope: 'read:profile', path: '/api/v1/profile' };

/**
 * `live`: opens data. `ending`: an end was requested, so any response is possible. `dead`: the end was acknowledged. `narrowed`:
 * the withdrawal of heart rates was acknowledged. `void`: the end may be undone, so the token is not checked any more.
 */
type TokenState = 'live' | 'ending' | 'dead' | 'narrowed' | 'void';

/** An access token and what is known about it. */
export interface HeldToken {
  readonly secret: string;
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

  /** Reads once at a gateway and adds the result to the trace. Returns the result. */
  async read(
    token: HeldToken,
    reading: Reading,
    at: { readonly gateway: number; readonly first?: boolean; readonly trace: TraceEvent[] },
  ): Promise<WireAnswer> {
    const wasOver = isOver(token, reading);
    const conditional = reading === HEART && token.etag !== null && Math.random() < SHARE_CONDITIONAL;
    const headers = conditional ? { 'If-None-Match': token.etag ?? '' } : {};
    const { tally } = this;
    const startedAt = Date.now();
    const began = performance.now();
    const wire = this.#wires[at.gateway] as Wire;
    const answer = await wire.get(reading.path, token.secret, headers);
    tally.slowestMs = Math.max(tally.slowestMs, performance.now() - began);
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
    if (answer.status === 401) this.#compare(answer);
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

  #compare({ head, body, whole }: WireAnswer): void {
    if (!whole || body.includes('"TOKEN_EXPIRED"')) return;
    const text = `${withoutVolatile(head)}\n${body}`;
    this.#uniform ??= text;
    if (text !== this.#uniform) addViolation(this.tally, '401s differ', JSON.stringify(text));
  }
}

/** Whether the response was computed from a person's rows. */
function isData({ status }: WireAnswer): boolean {
  return (status >= 200 && status < 300) || status === 304 || status === 404;
}

function findField(head: string, name: string): string | null {
  return new RegExp(`\\r\\n${name}: *([^\\r]*)`, 'i').exec(head)?.[1] ?? null;
}

// Removes `Date` and the fields about the connection.
function withoutVolatile(head: string): string {
  return head.replace(/\r\n(date|connection|keep-alive):[^\r]*/gi, '');
}
