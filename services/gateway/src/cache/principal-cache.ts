import type { Clock } from '@phds/service-kit/clock';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../domain/principal.ts';

/** How many evictions are kept for each kind (family, grant, app). */
const MAX_EVICTIONS = 10_000;

/** The last part of an entry's maximum lifetime, in which its use makes it due for renewal: with the usual settings, five turns. */
const DUE_PART = 1 / 10;

/** Maximum number of tokens that wait for their renewal: as many as five turns of early renewal ask for. A token is due for about that long. */
const MAX_DUE = 2_500;

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
  /** Whether its use shortly before `until` makes it due for renewal. */
  mayBeDue: boolean;
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
  readonly #dueMs: number;
  readonly #due = new Set<string>();
  readonly #counts = { hits: 0, misses: 0, evictions: 0 };
  #generation = 0;

  constructor({ maxTokens, ttlMs, clock }: PrincipalCacheOptions) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#dueMs = ttlMs * DUE_PART;
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
    const leftMs = entry.until - this.#clock.now().getTime();
    const isAlive = leftMs > 0 && !this.#isEvicted(entry);
    if (!isAlive) {
      this.#entries.delete(key);
      return null;
    }
    if (leftMs <= this.#dueMs && entry.mayBeDue && this.#due.size < MAX_DUE) {
      entry.mayBeDue = false;
      this.#due.add(key);
    }
    return entry.principal;
  }

  /**
   * Removes and returns the tokens that were used shortly before the end of their entries: the oldest, at most `most`. Skips those
   * that have ended, were evicted or were renewed at their use meanwhile: asking about them would only delay the others.
   */
  takeDue(most = Number.POSITIVE_INFINITY): readonly string[] {
    const taken: string[] = [];
    for (const key of this.#due) {
      if (taken.length >= most) break;
      this.#due.delete(key);
      if (this.#isDue(key)) taken.push(key);
    }
    return taken;
  }

  #isDue(key: string): boolean {
    const entry = this.#entries.peek(key);
    if (entry === undefined || this.#isEvicted(entry)) return false;
    const leftMs = entry.until - this.#clock.now().getTime();
    return leftMs > 0 && leftMs <= this.#dueMs;
  }

  /** Stores facts that were requested at `askedAt` (ms) in `generation`. Does nothing if an eviction has happened since. */
  put(key: string, principal: Principal, askedAt: number, generation: number): void {
    if (generation !== this.#generation) return;
    const latest = askedAt + this.#ttlMs;
    const before = this.#entries.peek(key);
    // A renewed entry lives equally long each time, so that the spread of the first expiries lasts.
    const expiry =
      before === undefined
        ? toExpiry(key, latest, this.#ttlMs / 2)
        : Math.min(latest, before.until + this.#ttlMs - this.#dueMs);
    const { expiresAt } = principal;
    this.#entries.set(key, {
      principal,
      until: Math.min(expiry, expiresAt),
      mayBeDue: expiry < expiresAt,
      generation,
    });
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

/**
 * The latest moment at or before `latest` at which this token may expire. These moments are `step` apart and differ between tokens,
 * so that tokens cached at the same moment (after a start or a Redis reconnection) do not all expire at once. With a step of half
 * the lifetime, a first entry lives for half of it or longer; an entry asked about right after its expiry lives for all of it.
 */
function toExpiry(key: string, latest: number, step: number): number {
  const offset = ((key.charCodeAt(0) & 0xff) / 256) * step;
  return latest - ((latest - offset) % step);
}
