/**
 * The facts about presented access tokens: from the cache, or from authorization.
 *
 * A token is known by its SHA-256 only. Facts are kept for half to all of the lifetime, by the key, so that tokens cached at once (after a
 * start or a reconnection to Redis) do not all end at once. Decisions are not cached: scope and consent are judged for each request.
 *
 * Evicting a token, family, grant or app takes constant time, however many tokens it has: only a number is stored for its id, and facts
 * that were asked for before are dropped when they are looked up. Of more ids than MAX_EVICTIONS the oldest is discarded, and with it all
 * facts from before it. So ten thousand revocations at once do not scan the cache ten thousand times.
 *
 * Concurrent look-ups share a call. lru-cache's `fetchMethod` is not used, because it keeps look-ups in progress among the facts: unknown
 * tokens would push out known ones, and a request after an eviction would join a look-up from before it.
 */

import { fromBinary } from '@bufbuild/protobuf';
import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { type IntrospectResponse, TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { type GrantFacts as GrantMessage, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import { EvictionSchema } from '@phds/contracts/phds/events/v1/eviction_pb';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, unauthorized } from '@phds/service-kit/errors';
import { type RedisSubscriber, type RedisTls, subscribeRedis } from '@phds/service-kit/redis';
import { isSecret, sha256 } from '@phds/service-kit/secrets';
import type { Logger } from '@phds/service-kit/telemetry/log';
import { LRUCache } from 'lru-cache';
import type { TokenCalls } from '../clients/batched-calls.ts';

/** The facts about a live access token, from authorization and the ledger. Times in ms since the epoch. */
export interface Principal {
  readonly clientId: string;
  /** Empty for a userless token. */
  readonly userId: string;
  readonly grantId: string;
  readonly familyId: string;
  readonly scopes: ReadonlySet<string>;
  readonly expiresAt: number;
  /** Null for a userless token, and when consent could not be reached. */
  readonly grant: {
    readonly active: boolean;
    readonly scopes: ReadonlySet<string>;
    readonly expiresAt: number;
  } | null;
  /** False when nothing is known about consent; the record step alone then decides. */
  readonly ledgerChecked: boolean;
  /** Signed assertion for health-data; empty for a userless token. */
  readonly assertion: string;
  /** Thumbprint of the key that the token is bound to; empty for a bearer token. */
  readonly jkt: string;
}

/** A live access token that was presented. */
export interface Authenticated {
  readonly principal: Principal;
  /** Whether the facts come from the cache and may be up to a minute old. */
  readonly fromCache: boolean;
  readonly hash: Buffer;
}

/**
 * A token that was issued, but opens nothing: it is no longer alive, or its key was not proved. It gets the same response as every other
 * failure, but counts against the token only, not against the address.
 */
export class RefusedToken extends AppError {
  constructor(cause: string) {
    super('unauthorized', '', { cause });
  }
}

/** A live token that is bound to a key which the request did not prove. Its app's developer learns how many there were. */
export class UnprovenToken extends RefusedToken {}

/** A token past its expiry. Only who proves its key may learn that. */
export class ExpiredToken extends AppError {
  /** As in Principal. */
  readonly jkt: string;

  constructor({ jkt }: Pick<Principal, 'jkt'>) {
    super('token_expired');
    this.jkt = jkt;
  }
}

const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;
const DPOP = /^DPoP +([A-Za-z0-9\-._~+/]+=*)$/i;

/** The token of the `Authorization: Bearer` field (RFC 6750 2.1); null unless there is exactly one such field. */
export function findBearerToken(fields: readonly string[]): string | null {
  const [field] = fields;
  if (field === undefined || fields.length > 1) return null;
  return BEARER.exec(field)?.[1] ?? null;
}

/** A token in `Authorization`, of an app. */
interface PresentedToken {
  readonly scheme: 'bearer' | 'dpop';
  readonly token: string;
}

/** The token of the `Authorization` field with the scheme Bearer or DPoP (RFC 9449 7.1); null unless there is exactly one such field. */
export function findPresentedToken(fields: readonly string[]): PresentedToken | null {
  const token = findBearerToken(fields);
  if (token !== null) return { scheme: 'bearer', token };
  const bound = fields.length === 1 ? DPOP.exec(fields[0] ?? '')?.[1] : undefined;
  return bound === undefined ? null : { scheme: 'dpop', token: bound };
}

/** The presented token if it has the form of an access token, else null. */
export function findAccessToken(fields: readonly string[]): string | null {
  const token = findPresentedToken(fields)?.token;
  return token !== undefined && isSecret('access_token', token) ? token : null;
}

/** How many evictions are kept. */
const MAX_EVICTIONS = 30_000;

interface Known {
  readonly principal: Principal;
  readonly until: number;
  /** The last generation in which these facts were found not evicted. */
  generation: number;
}

interface Call {
  readonly generation: number;
  readonly answer: Promise<Principal>;
}

interface AccessTokensOptions {
  readonly tokens: Pick<TokenCalls, 'introspect'>;
  readonly maxTokens: number;
  /** Maximum lifetime of facts, in milliseconds. */
  readonly ttlMs: number;
  readonly clock: Clock;
}

export class AccessTokens {
  readonly #options: AccessTokensOptions;
  readonly #known: LRUCache<string, Known>;
  readonly #calls = new Map<string, Call>();
  /** The generation that began with the latest eviction of each id. */
  readonly #evicted = new LRUCache<string, number>({
    max: MAX_EVICTIONS,
    dispose: (generation, _id, reason) => {
      if (reason === 'evict') this.#oldest = generation;
    },
  });
  readonly #counts = { hits: 0, misses: 0, evictions: 0 };
  /** Grows with every eviction. */
  #generation = 0;
  /** Facts of earlier generations are evicted, whatever their ids. */
  #oldest = 0;

  constructor(options: AccessTokensOptions) {
    this.#options = options;
    this.#known = new LRUCache({ max: options.maxTokens });
  }

  /** Look-ups that found live facts, those that did not, and evictions, since the start. */
  get counts(): Readonly<Record<'hits' | 'misses' | 'evictions', number>> {
    return this.#counts;
  }

  /** Number of cached tokens, including evicted ones that have not been looked up since. */
  get size(): number {
    return this.#known.size;
  }

  /** Does not check possession. Throws `unauthorized`, ExpiredToken, or `unavailable` when authorization does not answer. */
  async authenticate(token: string): Promise<Authenticated> {
    if (!isSecret('access_token', token)) throw unauthorized('not an access token');
    const hash = sha256(token);
    const key = toCacheKey(hash);
    const cached = this.#find(key);
    if (cached !== null) {
      this.#counts.hits += 1;
      return { principal: cached, fromCache: true, hash };
    }
    this.#counts.misses += 1;
    const call = this.#calls.get(key);
    // An answer requested before an eviction must not serve a request that arrived after it.
    const answer = call?.generation === this.#generation ? call.answer : this.#ask(key, hash);
    return { principal: await answer, fromCache: false, hash };
  }

  /** Introspects the token again, bypassing the cache. Throws the same errors as `authenticate`. */
  async renew({ hash }: Authenticated): Promise<Authenticated> {
    this.forget({ hash });
    return { principal: await this.#ask(toCacheKey(hash), hash), fromCache: false, hash };
  }

  /** Drops the cached facts of a token after the record step has found them out of date. */
  forget({ hash }: Pick<Authenticated, 'hash'>): void {
    this.#known.delete(toCacheKey(hash));
  }

  /** Evicts one token by its cache key, or all tokens of a family, grant or app by its id. */
  evict(id: string): void {
    this.#generation += 1;
    this.#counts.evictions += 1;
    this.#known.delete(id);
    this.#evicted.set(id, this.#generation);
  }

  clear(): void {
    this.#generation += 1;
    this.#known.clear();
  }

  #find(key: string): Principal | null {
    const known = this.#known.get(key);
    if (known === undefined) return null;
    if (known.until > this.#options.clock.now().getTime() && !this.#isEvicted(known)) return known.principal;
    this.#known.delete(key);
    return null;
  }

  #isEvicted(known: Known): boolean {
    const { principal, generation } = known;
    if (generation === this.#generation) return false;
    // `peek` keeps the order of generations, so that the oldest one is discarded first.
    const isAfter = (id: string) => generation < (this.#evicted.peek(id) ?? 0);
    const { familyId, grantId, clientId } = principal;
    const evicted = generation < this.#oldest || isAfter(familyId) || isAfter(grantId) || isAfter(clientId);
    if (!evicted) known.generation = this.#generation;
    return evicted;
  }

  #ask(key: string, hash: Buffer): Promise<Principal> {
    const generation = this.#generation;
    const answer = this.#introspect(key, hash, generation).finally(() => {
      if (this.#calls.get(key)?.answer === answer) this.#calls.delete(key);
    });
    this.#calls.set(key, { generation, answer });
    return answer;
  }

  async #introspect(key: string, hash: Buffer, generation: number): Promise<Principal> {
    const { tokens, clock, ttlMs } = this.#options;
    const askedAt = clock.now().getTime();
    const response = await tokens.introspect({ request: { tokenHash: hash } });
    if (response.status === TokenStatus.EXPIRED) throw new ExpiredToken(response);
    if (response.status === TokenStatus.DEAD) throw new RefusedToken('token is no longer alive');
    if (response.status !== TokenStatus.LIVE) throw unauthorized('token is not known');
    const principal = toPrincipal(response);
    if (principal.ledgerChecked && generation === this.#generation) {
      const spread = (key.charCodeAt(0) & 0xff) / 256;
      const until = Math.min(askedAt + ttlMs * (1 - spread / 2), principal.expiresAt);
      this.#known.set(key, { principal, until, generation });
    }
    return principal;
  }
}

/** The cache key of a token: the 32 bytes of its SHA-256 as a latin1 string. */
function toCacheKey(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('latin1');
}

function toPrincipal({ principal, assertion, ledgerChecked, jkt }: IntrospectResponse): Principal {
  if (principal?.expiresAt === undefined)
    throw new AppError('internal', '', { cause: 'live token without facts' });
  const { clientId, userId, grantId, familyId, scopes, grant } = principal;
  return {
    clientId,
    userId,
    grantId,
    familyId,
    scopes: shareScopes(scopes),
    expiresAt: timestampMs(principal.expiresAt),
    grant: grant === undefined ? null : toGrant(grant),
    ledgerChecked,
    assertion,
    jkt,
  };
}

function toGrant({ status, scopes, expiresAt }: GrantMessage): Principal['grant'] {
  const active = status === GrantStatus.ACTIVE;
  return { active, scopes: shareScopes(scopes), expiresAt: toMs(expiresAt) };
}

function toMs(time: Timestamp | undefined): number {
  return time === undefined ? 0 : timestampMs(time);
}

const sharedScopes = new LRUCache<string, ReadonlySet<string>>({ max: 1_000 });

/** Most tokens carry one of a few scope sets, so they share the set objects. */
function shareScopes(scopes: readonly string[]): ReadonlySet<string> {
  const key = scopes.join(' ');
  const known = sharedScopes.get(key);
  if (known !== undefined) return known;
  const set = new Set(scopes);
  sharedScopes.set(key, set);
  return set;
}

const CHANNEL = 'phds.events.v1';

/**
 * Evicts cached tokens when consent publishes that something has ended. Best effort: an entry whose eviction is lost still expires
 * within a minute.
 */
export function subscribeEvictions(
  { url, tls }: { readonly url: string; readonly tls: RedisTls },
  tokens: AccessTokens,
  log: Logger,
): RedisSubscriber {
  return subscribeRedis(
    url,
    {
      channels: [CHANNEL],
      onMessage: (_channel, payload) => applyEviction(payload, tokens, log),
      // Messages published while disconnected are lost, so any entry may be out of date.
      onSubscribed: () => tokens.clear(),
    },
    log,
    { tls },
  );
}

/** Applies one published message. An unreadable message clears the whole cache. */
export function applyEviction(payload: Uint8Array, tokens: AccessTokens, log: Logger): void {
  const id = findEvicted(payload);
  if (id === null) {
    log.warn('unreadable eviction message; clearing the whole token cache');
    tokens.clear();
  } else tokens.evict(id);
}

function findEvicted(payload: Uint8Array): string | null {
  try {
    const { subject } = fromBinary(EvictionSchema, payload);
    if (subject.case === undefined) return null;
    return subject.case === 'tokenHash' ? toCacheKey(subject.value) : subject.value;
  } catch {
    return null;
  }
}
