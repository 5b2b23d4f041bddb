import { setTimeout as delay } from 'node:timers/promises';
import { eventually } from '@phds/test-kit/conditions';

/** A GET with a token or a session. */
export interface Ask {
  readonly path: string;
  readonly bearer: () => string | Promise<string>;
}

const WORKERS = 4;
const PAUSE_BEFORE_REPEAT_MS = 50;
const ANSWER_LIMIT_MS = 30_000;

/**
 * Requests that are sent all the time. A request that finds its gateway or a service leaving (no answer, or 503) is repeated once, as
 * balancers do. A read of the data API has to return a reading.
 */
export class Traffic implements AsyncDisposable {
  readonly #gateways: () => readonly string[];
  readonly #asks: readonly Ask[];
  readonly #workers: Promise<void>[];
  #isOver = false;
  #answered = 0;
  /** Answers 503, after which a request was repeated. A gateway and services that leave in order give none. */
  readonly refused: string[] = [];
  readonly failures: string[] = [];

  constructor(gateways: () => readonly string[], asks: readonly Ask[]) {
    this.#gateways = gateways;
    this.#asks = asks;
    this.#workers = Array.from({ length: WORKERS }, (_, index) => this.#work(index));
  }

  get answered(): number {
    return this.#answered;
  }

  /** Waits until that many more requests were answered and this time has passed. */
  async pass(requests: number, milliseconds = 0): Promise<void> {
    const wanted = this.#answered + requests;
    const start = performance.now();
    await eventually(() => this.#answered >= wanted && performance.now() - start >= milliseconds);
  }

  async #work(index: number): Promise<void> {
    for (let turn = index; !this.#isOver; turn += 1) {
      const ask = this.#asks[turn % this.#asks.length] as Ask;
      const failure = await this.#try(ask, turn).catch(async () => {
        await delay(PAUSE_BEFORE_REPEAT_MS);
        return this.#try(ask, turn + 1).catch(String);
      });
      this.#answered += 1;
      if (failure !== null) this.failures.push(failure);
    }
  }

  /** Returns what is wrong with the answer; throws when a repeat may help. */
  async #try(ask: Ask, turn: number): Promise<string | null> {
    const gateways = this.#gateways();
    const answer = await fetch(`${gateways[turn % gateways.length]}${ask.path}`, {
      headers: { authorization: `Bearer ${await ask.bearer()}` },
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    });
    const body = await answer.text();
    const found = `${ask.path} answered ${answer.status}: ${body}`;
    if (answer.status === 503) {
      this.refused.push(found);
      throw new Error(found);
    }
    const isComplete = !ask.path.startsWith('/api/') || body.includes('"value"');
    return answer.ok && isComplete ? null : found;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#workers);
  }
}
