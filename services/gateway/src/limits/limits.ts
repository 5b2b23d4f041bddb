/**
 * The limits of the public interface: so many points a minute for each key. A request takes one point of the limit of its surface, and
 * further ones if its work costs more, for a person of a limit of their own. What an app's jobs do has limits of its own, so that a job
 * cannot use up what the app's people need.
 *
 * How: rate-limiter-flexible counts in Redis for all gateways, and in this process when Redis does not answer. A gateway takes a lease of
 * 1 % of a limit at once, so most requests need no call. The lease also shows when a key is used up, so the library's own blocking is not
 * used. All gateways together never grant more points than the limit; what one leases and does not use within the window, at most that 1 %,
 * is lost. A request that is counted after its answer is served, also without a point.
 *
 * Not: requests do not wait, and windows are fixed: around the end of one, twice the limit can pass.
 */
import { createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { AppError } from '@phds/service-kit/errors';
import type { RedisConnection } from '@phds/service-kit/redis';
import { sha256 } from '@phds/service-kit/secrets';
import ipaddr from 'ipaddr.js';
import { LRUCache } from 'lru-cache';
import { RateLimiterMemory, RateLimiterRedis, RateLimiterRes } from 'rate-limiter-flexible';
import type { LimitTable } from './limit-table.ts';

const WINDOW_SECONDS = 60;

/** What is counted: the limits of the table, failed authentications twice. */
function toCounters({ 'failed-authentications': failures, ...others }: LimitTable) {
  return { ...others, 'failed-address': failures, 'failed-credential': failures };
}

export type LimitName = keyof ReturnType<typeof toCounters>;

/** The state of a limit for a key. */
export interface Allowance {
  readonly name: string;
  readonly perMinute: number;
  /** Whether so many points were left. */
  readonly allowed: boolean;
  readonly remaining: number;
  /** Seconds until the limit is full again; at least 1. */
  readonly resetSeconds: number;
}

/** Header fields of the IETF draft. */
export function limitFields({ name, perMinute, remaining, resetSeconds }: Allowance) {
  return {
    'RateLimit-Policy': `"${name}";q=${perMinute};w=${WINDOW_SECONDS}`,
    RateLimit: `"${name}";r=${remaining};t=${resetSeconds}`,
  };
}

/** The refusal of a request. */
export function rateLimited({ resetSeconds }: Allowance): AppError {
  return new AppError('rate_limited', '', { retryAfterSeconds: resetSeconds });
}

export class Limits {
  readonly #limits: ReadonlyMap<LimitName, Limit>;
  /** Receives the name of the limit for each refused request. */
  readonly onRefused: (name: string) => void;

  /** Without Redis (null), this process counts by itself. */
  constructor(table: LimitTable, redis: RedisConnection | null, onRefused: (name: string) => void) {
    const counters = Object.entries(toCounters(table)) as [LimitName, number][];
    this.#limits = new Map(counters.map(([name, perMinute]) => [name, new Limit(name, perMinute, redis)]));
    this.onRefused = onRefused;
  }

  /** Counts a request, or what a counted one costs beyond one point: at most what it leaves of a full limit. */
  take(name: LimitName, key: string, further?: number): Promise<Allowance> {
    const limit = this.#get(name);
    const points = further === undefined ? 1 : Math.min(further, limit.perMinute - 1);
    return limit.take(key, points);
  }

  /** Throws `rate_limited` beyond the limit. */
  require(allowance: Allowance): void {
    if (allowance.allowed) return;
    this.onRefused(allowance.name);
    throw rateLimited(allowance);
  }

  /** The refusal of a key that this process knows to be used up, else null. Takes nothing. */
  findRefusal(name: LimitName, key: string): Allowance | null {
    return this.#get(name).findRefusal(key);
  }

  #get(name: LimitName): Limit {
    const limit = this.#limits.get(name);
    if (limit === undefined) throw new RangeError(`There is no limit '${name}'.`);
    return limit;
  }
}

/** Points of a key that are counted already and not yet used. */
interface Lease {
  left: number;
  /** Points left for other leases. */
  readonly beyond: number;
  /** `performance.now()` at the end of the window. */
  readonly endsAt: number;
}

export class Limit {
  readonly perMinute: number;
  readonly #name: string;
  readonly #share: number;
  readonly #limiter: RateLimiterMemory | RateLimiterRedis;
  // As a size, because a maximum number allocates the memory for all of them at once.
  readonly #leases = new LRUCache<string, Lease>({ maxSize: 100_000, sizeCalculation: () => 1 });
  /** Concurrent requests for a key share one call to Redis. */
  readonly #asking = new Map<string, Promise<void>>();

  constructor(name: string, perMinute: number, redis: RedisConnection | null) {
    this.perMinute = perMinute;
    this.#name = name;
    this.#share = Math.floor(perMinute / 100);
    this.#limiter = createLimiter(name, perMinute, redis);
  }

  async take(key: string, points = 1): Promise<Allowance> {
    for (;;) {
      const lease = this.#find(key);
      if (lease !== undefined && lease.left >= points) {
        lease.left -= points;
        return this.#toAllowance(true, lease);
      }
      if (lease?.beyond === 0) return this.#toAllowance(false, lease);
      await (this.#asking.get(key) ?? this.#ask(key, points));
    }
  }

  findRefusal(key: string): Allowance | null {
    const lease = this.#find(key);
    return lease?.beyond === 0 && lease.left === 0 ? this.#toAllowance(false, lease) : null;
  }

  #find(key: string): Lease | undefined {
    const lease = this.#leases.get(key);
    return lease !== undefined && performance.now() < lease.endsAt ? lease : undefined;
  }

  #ask(key: string, points: number): Promise<void> {
    const asked = this.#lease(key, Math.max(this.#share, points)).finally(() => this.#asking.delete(key));
    this.#asking.set(key, asked);
    return asked;
  }

  /** Adds what is granted of so many points to the lease of a key. */
  async #lease(key: string, points: number): Promise<void> {
    const { consumedPoints, remainingPoints: beyond, msBeforeNext } = await this.#consume(key, points);
    // The points are counted even if fewer were left.
    const granted = Math.max(0, Math.min(points, this.perMinute - (consumedPoints - points)));
    const left = (this.#find(key)?.left ?? 0) + granted;
    this.#leases.set(key, { left, beyond, endsAt: performance.now() + msBeforeNext });
  }

  /** The state after counting. The library throws it when there were not enough points. */
  async #consume(key: string, points: number): Promise<RateLimiterRes> {
    try {
      return await this.#limiter.consume(key, points);
    } catch (state) {
      if (state instanceof RateLimiterRes) return state;
      throw state;
    }
  }

  #toAllowance(allowed: boolean, { left, beyond, endsAt }: Lease): Allowance {
    const resetSeconds = Math.max(1, Math.ceil((endsAt - performance.now()) / 1000));
    return { name: this.#name, perMinute: this.perMinute, allowed, remaining: left + beyond, resetSeconds };
  }
}

function createLimiter(name: string, points: number, redis: RedisConnection | null) {
  const local = new RateLimiterMemory({ keyPrefix: name, points, duration: WINDOW_SECONDS });
  if (redis === null) return local;
  return new RateLimiterRedis({
    storeClient: redis.client,
    keyPrefix: `phds:limit:${name}`,
    points,
    duration: WINDOW_SECONDS,
    rejectIfRedisNotReady: true,
    insuranceLimiter: local,
  });
}

interface FailedAuthentication {
  readonly address: string;
  /** The presented client id, existing or not, or token with the form of an access token; undefined otherwise. */
  readonly credential: string | undefined;
  /** Whether the credential is a token that this service issued, and therefore not a guess. */
  readonly issued: boolean;
}

/**
 * Counts a failed authentication. Returns null, or the refusal when a limit is used up. Successful ones are never counted or refused. One
 * credential counts against its address at most once a minute, so one misconfigured secret cannot block a partner's address. Failures
 * without a credential always count against the address. Tokens that were issued but have ended never do: they are not guesses.
 */
export async function countFailure(
  limits: Limits,
  { address, credential, issued }: FailedAuthentication,
): Promise<Allowance | null> {
  const addressKey = toAddressKey(address);
  // Checked first, so that an address over its limit cannot create a key for each further guess.
  const empty = issued ? null : limits.findRefusal('failed-address', addressKey);
  if (empty !== null) return toPublic(limits, empty);
  if (credential !== undefined) {
    // Hashed because a credential may have any length.
    const own = await limits.take('failed-credential', sha256(credential).toString('base64url'));
    if (!own.allowed) return toPublic(limits, own);
    const isFirst = own.remaining === own.perMinute - 1;
    if (issued || !isFirst) return null;
  }
  const byAddress = await limits.take('failed-address', addressKey);
  return byAddress.allowed ? null : toPublic(limits, byAddress);
}

function toPublic(limits: Limits, refusal: Allowance): Allowance {
  limits.onRefused(refusal.name);
  return { ...refusal, name: 'failed-authentications', remaining: 0 };
}

/** A secret with its client id, or the client id of an app without a secret and the key of the address that named it. */
interface Presented {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly address?: string;
}

const MAX_CLIENTS = 10_000;

/**
 * Which app presents what, so that a request can be counted, and refused beyond the limit, before authorization is called. Opens
 * nothing: authorization authenticates every request. Holds no secret, only its salted hash.
 */
export class KnownClients {
  readonly #salt = randomBytes(32).toString('base64');
  readonly #ofSecrets = new LRUCache<string, string>({ max: MAX_CLIENTS });
  /** Apart, because everybody with many addresses can fill it. */
  readonly #ofAddresses = new LRUCache<string, string>({ max: MAX_CLIENTS });

  /** The client id of what authorization has accepted at this gateway; undefined when it is not known. */
  find(presented: Presented): string | undefined {
    return this.#among(presented).get(this.#hash(presented));
  }

  add(presented: Presented, clientId: string): void {
    this.#among(presented).set(this.#hash(presented), clientId);
  }

  /** Called when authorization has refused it. */
  forget(presented: Presented): void {
    this.#among(presented).delete(this.#hash(presented));
  }

  #among({ address }: Presented): LRUCache<string, string> {
    return address === undefined ? this.#ofSecrets : this.#ofAddresses;
  }

  #hash({ clientId = '', clientSecret = '', address = '' }: Presented): string {
    return sha256(JSON.stringify([this.#salt, clientId, clientSecret, address])).toString('base64');
  }
}

/**
 * The limit key of a client: an IPv4 address, or the /64 network of an IPv6 address, because one client usually owns the whole /64.
 */
export function toAddressKey(address: string): string {
  return toNetwork(address, 4);
}

/** The network of a client: an IPv4 address, or so many of the eight groups of an IPv6 address. */
function toNetwork(text: string, groupCount: number): string {
  const address = withoutPort(text);
  if (!ipaddr.isValid(address)) return NO_ADDRESS;
  const parsed = ipaddr.process(address);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  const groups = (parsed as ipaddr.IPv6).parts.slice(0, groupCount);
  return groups.map((group) => group.toString(16)).join(':');
}

/** The key of whatever is no address: a caller who can write texts here would have a limit for each. */
const NO_ADDRESS = 'none';

/** The address alone. An IPv4 client of a port that also listens on IPv6 has an address like `::ffff:192.0.2.1`. */
export function toPlainAddress(text: string): string {
  return withoutPort(text).replace(/^::ffff:(?=\d+\.)/i, '');
}

/** Some proxies write `192.0.2.1:50001` or `[2001:db8::7]:443` into X-Forwarded-For. */
function withoutPort(address: string): string {
  const { v4, v6 } = /^(?:(?<v4>[\d.]+):\d+|\[(?<v6>[^\]]+)\](?::\d+)?)$/.exec(address)?.groups ?? {};
  return v4 ?? v6 ?? address;
}

/**
 * Returns what names a client's network without telling its address: a keyed hash of an IPv4 address, or of the /48 network of an IPv6
 * address, of which one customer may own the whole. All gateways with one key name it alike.
 */
export function createNetworkNames(secret: string): (address: string) => string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'phds networks of anonymous requests', 32));
  return (address) => createHmac('sha256', key).update(toNetwork(address, 3)).digest('base64url');
}
