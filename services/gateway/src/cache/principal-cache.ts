import type { Clock } from '@phds/service-kit/clock';
import { LRUCache } from 'lru-cache';
import type { Principal } from '../domain/principal.ts';

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
}

/**
 * Facts about live access tokens, by the hash of the token, for less than a minute. Facts only: scope and consent are judged
 * for each request. Finds what belongs to a family, grant or app without looking at the rest.
 */
export class PrincipalCache {
  readonly #entries: LRUCache<string, Entry>;
  readonly #keysOf = new Map<string, Set<string>>();
  readonly #clock: Clock;
  readonly #ttlMs: number;
  #generation = 0;

  constructor({ maxTokens, ttlMs, clock }: PrincipalCacheOptions) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
    this.#entries = new LRUCache({
      max: maxTokens,
      dispose: ({ principal }, key) => {
        for (const subject of subjectsOf(principal)) this.#unlink(subject, key);
      },
    });
  }

  /** Grows with every eviction. An answer asked for in an older generation may be what the eviction is about. */
  get generation(): number {
    return this.#generation;
  }

  get size(): number {
    return this.#entries.size;
  }

  find(key: string): Principal | null {
    const entry = this.#entries.get(key);
    if (entry === undefined) return null;
    if (this.#clock.now().getTime() < entry.until) return entry.principal;
    this.#entries.delete(key);
    return null;
  }

  /** Remembers facts that were asked for at `askedAt` (ms) in `generation`; does nothing when an eviction came since. */
  put(key: string, principal: Principal, askedAt: number, generation: number): void {
    if (generation !== this.#generation) return;
    const until = Math.min(askedAt + this.#ttlMs * shareOfLifetime(key), principal.expiresAt);
    this.#entries.set(key, { principal, until });
    for (const subject of subjectsOf(principal)) {
      const keys = this.#keysOf.get(subject);
      if (keys === undefined) this.#keysOf.set(subject, new Set([key]));
      else keys.add(key);
    }
  }

  /** Forgets one token because of what was learnt about it; says nothing about answers under way. */
  forget(key: string): void {
    this.#entries.delete(key);
  }

  evict({ kind, value }: EvictionSubject): void {
    this.#generation += 1;
    if (kind === 'token') this.#entries.delete(value);
    else for (const key of [...(this.#keysOf.get(`${kind}:${value}`) ?? [])]) this.#entries.delete(key);
  }

  clear(): void {
    this.#generation += 1;
    this.#entries.clear();
  }

  #unlink(subject: string, key: string): void {
    const keys = this.#keysOf.get(subject);
    if (keys === undefined) return;
    keys.delete(key);
    if (keys.size === 0) this.#keysOf.delete(subject);
  }
}

/**
 * Above a half, at most 1; evenly spread over tokens and the same for a token each time. Tokens that were asked for together, because a
 * gateway started or lost touch with Redis, are so asked for again over half a lifetime, and not in one moment.
 */
function shareOfLifetime(key: string): number {
  return 1 - (key.charCodeAt(0) & 0xff) / 512;
}

function subjectsOf({ clientId, familyId, grantId }: Principal): string[] {
  const subjects = [`client:${clientId}`];
  if (familyId !== '') subjects.push(`family:${familyId}`);
  if (grantId !== '') subjects.push(`grant:${grantId}`);
  return subjects;
}
