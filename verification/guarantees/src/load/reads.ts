import type { TraceEvent } from '../protocol/trace.ts';
import { HEART, type HeldToken, isOver, type Reading } from './held-token.ts';
import { addViolation, count, DATA_AFTER_REVOCATION, type Tally } from './tally.ts';
import type { Wire, WireAnswer } from './wire.ts';

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
