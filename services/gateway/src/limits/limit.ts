import { type Bucket, type BucketOptions, createLeasingBucket } from './bucket.ts';

/** The state of a limit, formatted for the header fields of the IETF draft. */
export interface Allowance {
  readonly allowed: boolean;
  /** Value of `RateLimit-Policy`. */
  readonly policy: string;
  /** Value of `RateLimit`. */
  readonly state: string;
  readonly retryAfterSeconds: number;
}

/** A limit with its public name. */
export class Limit {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #policy: string;
  readonly #onRefused: BucketOptions['onRefused'];

  constructor(options: BucketOptions) {
    this.#bucket = createLeasingBucket(options);
    this.#name = options.name;
    this.#onRefused = options.onRefused;
    this.#policy = `"${options.name}";q=${options.perMinute};w=60`;
  }

  /** Counts one request for the key. */
  async take(key: string): Promise<Allowance> {
    const { allowed, remaining, resetSeconds } = await this.#bucket.take(key);
    if (!allowed) this.#onRefused?.(this.#name);
    return {
      allowed,
      policy: this.#policy,
      state: `"${this.#name}";r=${remaining};t=${resetSeconds}`,
      retryAfterSeconds: resetSeconds,
    };
  }
}
