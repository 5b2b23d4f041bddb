import type { RedisConnection } from '@phds/service-kit/redis';
import { PROOF_MEMORY_SECONDS } from '@phds/service-kit/trust/dpop';
import { LRUCache } from 'lru-cache';

/** More than a gateway can read in PROOF_MEMORY_SECONDS: 2,600 a second. They take 32 MB. */
const MAX_PROOFS = 250_000;

/**
 * The DPoP proofs that were used. All gateways share them in Redis. Each gateway also has its own, which decide alone when Redis does not
 * answer: then a proof works at most once at each gateway while it is young enough.
 */
export class UsedProofs {
  readonly #redis: RedisConnection | null;
  // As a size, because a maximum number allocates the memory for all of them at once.
  readonly #own = new LRUCache<string, true>({ maxSize: MAX_PROOFS, sizeCalculation: () => 1 });

  constructor(redis: RedisConnection | null) {
    this.#redis = redis;
  }

  /** Uses a proof up. Returns whether it was new. */
  async add(id: Buffer): Promise<boolean> {
    const key = id.toString('latin1');
    if (this.#own.has(key)) return false;
    this.#own.set(key, true);
    if (this.#redis === null) return true;
    const name = `phds:proof:${id.toString('base64url')}`;
    try {
      return (await this.#redis.client.set(name, '', 'EX', PROOF_MEMORY_SECONDS, 'NX')) === 'OK';
    } catch {
      return true;
    }
  }
}
