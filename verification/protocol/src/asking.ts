import { AppError, type Reason } from '@phds/service-kit/errors';
import type { Ending, Restorable, TraceEvent } from './trace.ts';

/** The outcome of a call: a result, or the reason of a refusal. `unavailable`: no attempt got a definite response. */
export type Outcome<T> =
  | { readonly answer: T; readonly reason: null }
  | { readonly answer: null; readonly reason: Reason };

const ATTEMPTS = 3;

// No history causes these refusals, so they show a mistake of the replay or of a service.
const UNEXPECTED: readonly Reason[] = ['internal', 'caller_not_admitted', 'rate_limited'];

/** Calls the services, repeats calls without a definite response, and adds the events that the oracle needs to the trace. */
export class Asking {
  readonly trace: TraceEvent[] = [];
  readonly #tick: () => number;

  constructor(tick: () => number) {
    this.#tick = tick;
  }

  async insist<T>(ask: () => Promise<T>): Promise<Outcome<T>> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return { answer: await ask(), reason: null };
      } catch (error) {
        if (!(error instanceof AppError) || UNEXPECTED.includes(error.reason)) throw error;
        const { reason } = error;
        if (reason !== 'unavailable' || attempt === ATTEMPTS) return { answer: null, reason };
      }
    }
  }

  /** Requests an ending. It is acknowledged by a successful response or by the expected refusal. */
  async end<T>(
    endings: readonly Ending[],
    ask: () => Promise<T>,
    acknowledgement: Reason | null = null,
  ): Promise<Outcome<T>> {
    const askedAt = this.note(endings);
    const outcome = await this.insist(ask);
    if (outcome.reason === acknowledgement) {
      const at = this.#tick();
      for (const ended of endings) this.trace.push({ kind: 'acknowledged', at, askedAt, ended });
    }
    return outcome;
  }

  /** Records that something may end from now on; returns that time. */
  note(endings: readonly Ending[]): number {
    const at = this.#tick();
    for (const ended of endings) this.trace.push({ kind: 'asked', at, ended });
    return at;
  }

  /** Requests something that may restore an access. */
  async restore<T>(restores: readonly Restorable[], ask: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const at = this.#tick();
    const outcome = await ask();
    const answeredAt = outcome.reason === 'unavailable' ? null : this.#tick();
    for (const one of restores) this.trace.push({ kind: 'restored', at, answeredAt, restores: one });
    return outcome;
  }
}
