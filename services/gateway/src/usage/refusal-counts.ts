import type { Client } from '@connectrpc/connect';
import type { AccessService } from '@phds/contracts/phds/consent/v1/access_pb';
import type { Clock } from '@phds/service-kit/clock';
import { AppError } from '@phds/service-kit/errors';
import type { Logger } from '@phds/service-kit/telemetry/log';

/** Maximum number of counts in one call. */
const BATCH = 500;
/** Maximum number of different counts kept while consent is unavailable. Further refusals are not counted. */
const MAX_KEPT = 20_000;

const DAY_MS = 86_400_000;

/** One refused request of an authenticated app. */
interface Refusal {
  readonly clientId: string;
  /** One of a fixed set of names, so that callers cannot create counters. */
  readonly endpoint: string;
  /** HTTP status. */
  readonly status: number;
  /** Whether it had a live token of the app, but did not prove its key. */
  readonly isWithoutKey: boolean;
  /** The grant that lacks consent, if nothing was read for this reason; else empty. */
  readonly grantId: string;
}

interface Count extends Omit<Refusal, 'isWithoutKey'> {
  /** Days since 1 January 1970, UTC. */
  readonly day: number;
  count: number;
  withoutKey: number;
}

interface RefusalCountsOptions {
  readonly accesses: Pick<Client<typeof AccessService>, 'countRefusals'>;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'warn'>;
}

/**
 * Counts refused requests in memory and sends the counts to consent, which stores the usage of apps. A gateway that crashes loses
 * counts that it has not sent. A batch whose response is lost is sent again and may count twice: usage is a statistic; access
 * records are exact.
 */
export class RefusalCounts {
  readonly #accesses: RefusalCountsOptions['accesses'];
  readonly #clock: Clock;
  readonly #log: RefusalCountsOptions['log'];
  #kept = new Map<string, Count>();
  #lost = 0;

  constructor({ accesses, clock, log }: RefusalCountsOptions) {
    this.#accesses = accesses;
    this.#clock = clock;
    this.#log = log;
  }

  add({ isWithoutKey, ...refusal }: Refusal): void {
    const day = Math.floor(this.#clock.now().getTime() / DAY_MS);
    this.#keep({ ...refusal, day, count: 1, withoutKey: isWithoutKey ? 1 : 0 });
  }

  /** Sends all counts. Throws when consent does not accept them; counts that it may accept later are kept. */
  async handOver(): Promise<void> {
    const counts = [...this.#kept.values()];
    this.#kept = new Map();
    this.#reportLost();
    while (counts.length > 0) {
      const batch = counts.slice(0, BATCH);
      try {
        await this.#accesses.countRefusals({ refusals: batch.map(toMessage) });
      } catch (error) {
        // A batch that consent found invalid is dropped, because a retry would fail too.
        if (isInvalid(error)) counts.splice(0, BATCH);
        for (const count of counts) this.#keep(count);
        throw error;
      }
      counts.splice(0, BATCH);
    }
  }

  #keep(count: Count): void {
    const key = `${count.day} ${count.status} ${count.clientId} ${count.grantId} ${count.endpoint}`;
    const known = this.#kept.get(key);
    if (known !== undefined) {
      known.count += count.count;
      known.withoutKey += count.withoutKey;
    } else if (this.#kept.size < MAX_KEPT) this.#kept.set(key, count);
    else this.#lost += count.count;
  }

  #reportLost(): void {
    if (this.#lost === 0) return;
    this.#log.warn(
      { refusals: this.#lost },
      'some refused requests were not counted: too many distinct counts',
    );
    this.#lost = 0;
  }
}

function toMessage({ day, count, withoutKey, ...refusal }: Count) {
  const date = new Date(day * DAY_MS).toISOString().slice(0, 10);
  const cap = (value: number) => Math.min(value, 0xffff_ffff);
  return { ...refusal, date, count: cap(count), withoutKey: cap(withoutKey) };
}

function isInvalid(error: unknown): boolean {
  return error instanceof AppError && error.reason === 'invalid_request';
}
