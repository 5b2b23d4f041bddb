import { type Bucket, type BucketOptions, createLeasingBucket } from './bucket.ts';

/** What a request finds in its bucket, as the fields of the IETF draft say it. */
export interface Allowance {
  readonly allowed: boolean;
  /** Value of `RateLimit-Policy`. */
  readonly policy: string;
  /** Value of `RateLimit`. */
  readonly state: string;
  readonly retryAfterSeconds: number;
}

/** One limit and the name that callers know it by. */
export class Limit {
  readonly #bucket: Bucket;
  readonly #name: string;
  readonly #policy: string;

  constructor(options: BucketOptions) {
    this.#bucket = createLeasingBucket(options);
    this.#name = options.name;
    this.#policy = `"${options.name}";q=${options.perMinute};w=60`;
  }

  /** Takes one request from the bucket of that key. */
  async take(key: string): Promise<Allowance> {
    const { allowed, remaining, resetSeconds } = await this.#bucket.take(key);
    return {
      allowed,
      policy: this.#policy,
      state: `"${this.#name}";r=${remaining};t=${resetSeconds}`,
      retryAfterSeconds: resetSeconds,
    };
  }
}
