import { type Timestamp, timestampMs } from '@bufbuild/protobuf/wkt';
import { type IntrospectResponse, TokenStatus } from '@phds/contracts/phds/authorization/v1/tokens_pb';
import { type GrantFacts as GrantMessage, GrantStatus } from '@phds/contracts/phds/consent/v1/ledger_pb';
import type { Clock } from '@phds/service-kit/clock';
import { AppError, unauthorized } from '@phds/service-kit/errors';
import { isSecret, sha256 } from '@phds/service-kit/secrets';
import { LRUCache } from 'lru-cache';
import type { TokenCalls } from '../clients/token-calls.ts';
import type { GrantFacts, Principal } from '../domain/principal.ts';
import type { PrincipalCache } from './principal-cache.ts';

/** A live access token that was presented. */
export interface Authenticated {
  readonly principal: Principal;
  /** Whether the facts come from the cache and may be up to a minute old. */
  readonly fromCache: boolean;
  readonly hash: Buffer;
}

/**
 * A token that was issued, but opens nothing: it is no longer alive, or its key was not proved. It gets the same response as every other failure, but counts against the token
 * only, not against the address.
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

interface Flight {
  readonly generation: number;
  readonly answer: Promise<Principal>;
}

interface AuthenticatorOptions {
  readonly tokens: Pick<TokenCalls, 'introspect'>;
  readonly cache: PrincipalCache;
  readonly clock: Clock;
}

/**
 * Resolves an access token to its principal, from the cache or from authorization. Concurrent requests for one token share one
 * call.
 */
export class Authenticator {
  readonly #tokens: AuthenticatorOptions['tokens'];
  readonly #cache: PrincipalCache;
  readonly #clock: Clock;
  readonly #flights = new Map<string, Flight>();

  constructor({ tokens, cache, clock }: AuthenticatorOptions) {
    this.#tokens = tokens;
    this.#cache = cache;
    this.#clock = clock;
  }

  /** Does not check possession. Throws `unauthorized`, ExpiredToken, or `unavailable` when authorization does not answer. */
  async authenticate(token: string): Promise<Authenticated> {
    if (!isSecret('access_token', token)) throw unauthorized('not an access token');
    const hash = sha256(token);
    const key = toCacheKey(hash);
    const cached = this.#cache.find(key);
    if (cached !== null) return { principal: cached, fromCache: true, hash };
    const flight = this.#flights.get(key);
    // An answer requested before an eviction must not serve a request that arrived after it.
    if (flight !== undefined && flight.generation === this.#cache.generation) {
      return { principal: await flight.answer, fromCache: false, hash };
    }
    return { principal: await this.#ask(key, hash), fromCache: false, hash };
  }

  /** Introspects the token again, bypassing the cache. Throws the same errors as `authenticate`. */
  async renew({ hash }: Authenticated): Promise<Authenticated> {
    const key = toCacheKey(hash);
    this.#cache.forget(key);
    return { principal: await this.#ask(key, hash), fromCache: false, hash };
  }

  /** Drops the cached facts of a token after the record step has found them out of date. */
  forget({ hash }: Authenticated): void {
    this.#cache.forget(toCacheKey(hash));
  }

  async #ask(key: string, hash: Buffer): Promise<Principal> {
    const { generation } = this.#cache;
    const flight: Flight = { generation, answer: this.#introspect(key, hash, generation) };
    this.#flights.set(key, flight);
    try {
      return await flight.answer;
    } finally {
      if (this.#flights.get(key) === flight) this.#flights.delete(key);
    }
  }

  async #introspect(key: string, hash: Buffer, generation: number): Promise<Principal> {
    const askedAt = this.#clock.now().getTime();
    const response = await this.#tokens.introspect({ request: { tokenHash: hash } });
    if (response.status === TokenStatus.EXPIRED) throw new ExpiredToken(response);
    if (response.status === TokenStatus.DEAD) throw new RefusedToken('token is no longer alive');
    if (response.status !== TokenStatus.LIVE) throw unauthorized('token is not known');
    const principal = toPrincipal(response);
    if (principal.ledgerChecked) this.#cache.put(key, principal, askedAt, generation);
    return principal;
  }
}

/** The cache key of a token: the 32 bytes of its SHA-256 as a latin1 string. */
export function toCacheKey(hash: Uint8Array): string {
  return Buffer.from(hash.buffer, hash.byteOffset, hash.byteLength).toString('latin1');
}

function toPrincipal(response: IntrospectResponse): Principal {
  const { principal, assertion, ledgerChecked, jkt } = response;
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
    grant: grant === undefined ? null : toGrantFacts(grant),
    ledgerChecked,
    assertion,
    jkt,
  };
}

function toGrantFacts({ status, scopes, expiresAt }: GrantMessage): GrantFacts {
  return {
    active: status === GrantStatus.ACTIVE,
    scopes: shareScopes(scopes),
    expiresAt: toMs(expiresAt),
  };
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

function toMs(time: Timestamp | undefined): number {
  return time === undefined ? 0 : timestampMs(time);
}
