import { HEART_PATH } from '@phds/running-system/working-system';
import type { BalancedClient } from './balanced-client.ts';

/** The reads of one run. */
export interface Reads {
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
export class Traffic {
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
