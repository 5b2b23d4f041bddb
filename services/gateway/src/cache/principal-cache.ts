import type { Clock } from '@phds/service-kit/clock';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../domain/principal.ts';

/** How many evictions are kept for each kind (family, grant, app). */
const MAX_EVICTIONS = 10_000;

/** Identifies the entries that an eviction removes. */
export interface EvictionSubject {
  readonly kind: 'token' | 'family' | 'grant' | 'client';
  /** An id; for a token, its cache key. */
  readonly value: string;
}

interface PrincipalCacheOptions {
  readonly maxTokens: number;
  /** Maximum lifetime of an entry, in milliseconds. */
  readonly ttlMs: number;
  readonly clock: Clock;
}

interface Entry {
  readonly principal: Principal;
  readonly until: number;
  /** The last generation at which this entry was checked and found not evicted. */
  generation: number;
}

type Group = Exclude<EvictionSubject['kind'], 'token'>;

/**
 * Caches facts about live access tokens for less than a minute, keyed by token hash. Decisions are not cached: scope and consent
 * are judged for each request. Evicting a family, grant or app takes constant time, however many tokens it has: only its latest
 * eviction is stored, and older entries are dropped when they are looked up.
 */
export class PrincipalCache {
  readonly #entries: LRUCache<string, Entry>;
  readonly #evictions: Readonly<Record<Group, Evictions>> = {
    family: new Evictions(),
    grant: new Evictions(),
    client: new Evictions(),
  };
  readonly #clock: Clock;
  readonly #ttlMs: number;
  readonly #counts = { hits: 0, misses: 0, evictions: 0 };
  #generation = 0;

  constructor({ maxTokens, ttlMs, clock }: PrincipalCacheOptions) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#entries = new LRUCache({ max: maxTokens });
  }

  /** Grows with every eviction. An answer requested in an older generation may already be out of date. */
  get generation(): number {
    return this.#generation;
  }

  /** Look-ups that found live facts, those that did not, and evictions, since the start. */
  get counts(): Readonly<Record<'hits' | 'misses' | 'evictions', number>> {
    return this.#counts;
  }

  /** Number of stored tokens, including evicted ones that have not been looked up since. */
  get size(): number {
    return this.#entries.size;
  }

  find(key: string): Principal | null {
    const principal = this.#find(key);
    if (principal === null) this.#counts.misses += 1;
    else this.#counts.hits += 1;
    return principal;
  }

  #find(key: string): Principal | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    if (entry.until > this.#clock.now().getTime() && !this.#isEvicted(entry)) return entry.principal;
    this.#entries.delete(key);
    return null;
  }

  /**
   * Stores facts that were requested at `askedAt` (ms) in `generation`. Does nothing if an eviction has happened since. An entry lives
   * for half to all of the lifetime, by its key, so that tokens cached at once (after a start or a Redis reconnection) do not all end
   * at once.
   */
  put(key: string, principal: Principal, askedAt: number, generation: number): void {
    if (generation !== this.#generation) return;
    const spread = (key.charCodeAt(0) & 0xff) / 256;
    const until = Math.min(askedAt + this.#ttlMs * (1 - spread / 2), principal.expiresAt);
    this.#entries.set(key, { principal, until, generation });
  }

  /** Drops one token. Answers to calls already in progress can still be stored. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  evict({ kind, value }: EvictionSubject): void {
    this.#generation += 1;
    this.#counts.evictions += 1;
    if (kind === 'token') this.#entries.delete(value);
    else this.#evictions[kind].add(value, this.#generation);
  }

  clear(): void {
    this.#generation += 1;
    this.#entries.clear();
  }

  #isEvicted(entry: Entry): boolean {
    const { principal, generation } = entry;
    if (generation === this.#generation) return false;
    const { family, grant, client } = this.#evictions;
    const evicted =
      family.isAfter(generation, principal.familyId) ||
      grant.isAfter(generation, principal.grantId) ||
      client.isAfter(generation, principal.clientId);
    if (!evicted) entry.generation = this.#generation;
    return evicted;
  }
}

/**
 * The generation of the latest eviction of each id. Once an old eviction is discarded, every entry older than it counts as evicted.
 */
class Evictions {
  #discarded = 0;
  readonly #latest = new LRUCache<string, number>({
    max: MAX_EVICTIONS,
    dispose: (generation, _id, reason) => {
      if (reason === 'evict') this.#discarded = generation;
    },
  });

  add(id: string, generation: number): void {
    this.#latest.set(id, generation);
  }

  isAfter(generation: number, id: string): boolean {
    // `peek` keeps the order of generations, so that the oldest one is discarded first.
    return generation < this.#discarded || generation < (this.#latest.peek(id) ?? 0);
  }
}
