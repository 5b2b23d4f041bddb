import type { Clock } from '@phds/service-kit/clock';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../domain/principal.ts';

/** How many evictions are kept for each kind (family, grant, app). */
const MAX_EVICTIONS = 10_000;

/** What an eviction is about: everything that was remembered of it goes. */
export interface EvictionSubject {
  readonly kind: 'token' | 'family' | 'grant' | 'client';
  /** An id; of a token, its cache key. */
  readonly value: string;
}

export interface PrincipalCacheOptions {
  readonly maxTokens: number;
  /** The longest that facts are remembered. Milliseconds. */
  readonly ttlMs: number;
  readonly clock: Clock;
}

interface Entry {
  readonly principal: Principal;
  readonly until: number;
  /** Up to this generation no eviction is about it. */
  generation: number;
}

type Group = Exclude<EvictionSubject['kind'], 'token'>;

/**
 * Facts about live access tokens, by the hash of the token, for less than a minute. Facts only: scope and consent are judged
 * for each request. Evicting a family, grant or app costs the same however many tokens it has: its latest eviction is written down, and a
 * token that was remembered before is dropped when it is looked up.
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
  #generation = 0;

  constructor({ maxTokens, ttlMs, clock }: PrincipalCacheOptions) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#entries = new LRUCache({ max: maxTokens });
  }

  /** Grows with every eviction. An answer asked for in an older generation may be what the eviction is about. */
  get generation(): number {
    return this.#generation;
  }

  /** Tokens held, those among them that an eviction is about and nobody has asked for since. */
  get size(): number {
    return this.#entries.size;
  }

  find(key: string): Principal | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    if (this.#clock.now().getTime() < entry.until && !this.#isEvicted(entry)) return entry.principal;
    this.#entries.delete(key);
    return null;
  }

  /** Remembers facts that were asked for at `askedAt` (ms) in `generation`; does nothing when an eviction came since. */
  put(key: string, principal: Principal, askedAt: number, generation: number): void {
    if (generation !== this.#generation) return;
    const until = Math.min(askedAt + this.#ttlMs * shareOfLifetime(key), principal.expiresAt);
    this.#entries.set(key, { principal, until, generation });
  }

  /** Forgets one token because of what was learnt about it; says nothing about answers under way. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  evict({ kind, value }: EvictionSubject): void {
    this.#generation += 1;
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

/** The latest eviction of each id, as its generation. When an old eviction is discarded, every entry older than it counts as evicted. */
class Evictions {
  /** In the order of generations. */
  readonly #latest = new Map<string, number>();
  #discarded = 0;

  add(id: string, generation: number): void {
    this.#latest.delete(id);
    this.#latest.set(id, generation);
    if (this.#latest.size <= MAX_EVICTIONS) return;
    const [oldest] = this.#latest;
    if (oldest === undefined) return;
    this.#latest.delete(oldest[0]);
    this.#discarded = oldest[1];
  }

  isAfter(generation: number, id: string): boolean {
    return generation < this.#discarded || generation < (this.#latest.get(id) ?? 0);
  }
}

/**
 * Above a half, at most 1; evenly spread over tokens and the same for a token each time. Tokens that were asked for together, because a
 * gateway started or lost touch with Redis, are so asked for again over half a lifetime, and not in one moment.
 */
function shareOfLifetime(key: string): number {
  return 1 - (key.charCodeAt(0) & 0xff) / 512;
}
