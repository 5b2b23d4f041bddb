import { PROBLEM_CODES, type ProblemCode } from '@phds/catalog/problems';
import type { Clock } from '@phds/service-kit/clock';
import type { RedisConnection } from '@phds/service-kit/redis';
import type { Logger } from '@phds/service-kit/telemetry/log';
import { z } from 'zod';

/** Number of requests kept for each app. */
const KEPT_REQUESTS = 200;
/** How many of them may come from somebody who only named the app and got an error. */
const UNPROVEN_REQUESTS = 50;
/** How long a request is kept. */
const KEPT_HOURS = 24;
/** Number of apps whose requests are kept in memory while they are not stored in Redis. */
const MAX_APPS = 1_000;

/** One answered request of an authenticated app. Holds no id from a path, no query, no person and no value. */
export interface LoggedRequest {
  readonly requestId: string;
  /** Arrival in milliseconds since 1 January 1970. */
  readonly at: number;
  readonly method: string;
  /** One of a fixed set of names, never the path itself. */
  readonly endpoint: string;
  readonly status: number;
  /** Null for an answer that is not an error. */
  readonly code: ProblemCode | null;
  /** Milliseconds until the answer. */
  readonly ms: number;
  /** What was wrong with the client assertion. */
  readonly fault?: string | undefined;
}

/** The requests that all gateways share. */
export interface SharedRequestLog {
  /** Stores requests, oldest first in each app. Throws when Redis does not store all of them. */
  append(requests: ReadonlyMap<string, readonly LoggedRequest[]>): Promise<void>;
  /** The stored requests of an app; null when Redis cannot be read. */
  find(clientId: string): Promise<LoggedRequest[] | null>;
}

interface RequestLogOptions {
  /** Null without Redis: then this process has only its own requests. */
  readonly shared: SharedRequestLog | null;
  readonly clock: Clock;
}

interface RequestsOfApp {
  /** Newest first. */
  readonly requests: readonly LoggedRequest[];
  /** Whether the requests at all gateways are included. */
  readonly complete: boolean;
}

type ByApp = Map<string, LoggedRequest[]>;

/**
 * The latest requests of each app, for its developer. `add` only appends to an array; the requests are moved to Redis periodically. A
 * gateway that crashes loses those of its last interval: the log is a help for developers, access records are exact.
 */
export class RequestLog {
  readonly #shared: SharedRequestLog | null;
  readonly #clock: Clock;
  #added: (readonly [clientId: string, request: LoggedRequest])[] = [];
  /** Not known to be stored in Redis; oldest first in each app. */
  readonly #kept: ByApp = new Map();

  constructor({ shared, clock }: RequestLogOptions) {
    this.#shared = shared;
    this.#clock = clock;
  }

  /** With `isProven` false, anybody who knows the app's id may have sent it: it takes no place of the app's own requests. */
  add(clientId: string, request: LoggedRequest, isProven = true): void {
    this.#added.push([isProven ? clientId : toUnproven(clientId), request]);
  }

  /** Moves all requests to Redis. Throws when Redis does not store them; they are kept for the next call. Never runs twice at once. */
  async handOver(): Promise<void> {
    this.#sort();
    if (this.#shared === null || this.#kept.size === 0) return;
    const sent = new Map(this.#kept);
    await this.#shared.append(sent);
    const stored = new Set([...sent.values()].flat());
    for (const clientId of sent.keys()) {
      const newer = (this.#kept.get(clientId) ?? []).filter((request) => !stored.has(request));
      if (newer.length > 0) this.#kept.set(clientId, newer);
      else this.#kept.delete(clientId);
    }
  }

  /** The requests of one app in the last 24 hours, at most 200. */
  async find(clientId: string): Promise<RequestsOfApp> {
    const [own, unproven] = await Promise.all([this.#findAll(clientId), this.#findAll(toUnproven(clientId))]);
    const others = unproven.requests.slice(0, UNPROVEN_REQUESTS);
    const requests = [...own.requests.slice(0, KEPT_REQUESTS - others.length), ...others];
    return { requests: requests.sort((a, b) => b.at - a.at), complete: own.complete && unproven.complete };
  }

  async #findAll(clientId: string): Promise<RequestsOfApp> {
    const stored = (await this.#shared?.find(clientId)) ?? null;
    this.#sort();
    const own = this.#kept.get(clientId) ?? [];
    const oldest = this.#clock.now().getTime() - KEPT_HOURS * 3_600_000;
    // What Redis stores is kept until its answer arrives, and sent again if the answer was lost.
    const byId = new Map([...(stored ?? []), ...own].map((request) => [request.requestId, request]));
    const requests = [...byId.values()].filter(({ at }) => at >= oldest).sort((a, b) => b.at - a.at);
    return { requests, complete: stored !== null };
  }

  /** Moves the added requests to their apps. */
  #sort(): void {
    const added = this.#added;
    this.#added = [];
    const newest: ByApp = new Map();
    for (let i = added.length - 1; i >= 0; i -= 1) {
      const [clientId, request] = added[i] as (typeof added)[number];
      const requests = newest.get(clientId);
      if (requests === undefined) newest.set(clientId, [request]);
      else if (requests.length < KEPT_REQUESTS) requests.push(request);
    }
    for (const [clientId, requests] of newest) this.#keep(clientId, requests.reverse());
  }

  /** Keeps requests that are newer than the kept ones. Drops the app that has been silent for longest when there are too many. */
  #keep(clientId: string, requests: readonly LoggedRequest[]): void {
    const kept = [...(this.#kept.get(clientId) ?? []), ...requests].slice(-KEPT_REQUESTS);
    this.#kept.delete(clientId);
    this.#kept.set(clientId, kept);
    if (this.#kept.size <= MAX_APPS) return;
    const [silent] = this.#kept.keys();
    if (silent !== undefined) this.#kept.delete(silent);
  }
}

/** Under which the unproven requests of an app are kept. No client id has a space. */
function toUnproven(clientId: string): string {
  return `${clientId} unproven`;
}

/** Number of apps in one pipeline, so that a busy moment does not hold up other commands on the connection. */
const APPS_AT_ONCE = 200;

/** A stored request, as an array because there are up to 200 for each app. */
const storedRequest = z.tuple([
  z.string(),
  z.number(),
  z.string(),
  z.string(),
  z.number(),
  z.enum(PROBLEM_CODES).nullable(),
  z.number(),
  z.string().optional(),
]);

/** Keeps the requests of each app in a Redis list of limited length that expires. */
export function createRedisRequestLog(
  { client, isReady }: RedisConnection,
  log: Pick<Logger, 'warn'>,
): SharedRequestLog {
  const appendSome = async (apps: readonly (readonly [string, readonly LoggedRequest[]])[]) => {
    const pipeline = client.pipeline();
    for (const [clientId, requests] of apps) {
      const key = toKey(clientId);
      pipeline
        .lpush(key, ...requests.map(toText))
        .ltrim(key, 0, KEPT_REQUESTS - 1)
        .expire(key, KEPT_HOURS * 3_600);
    }
    const failed = (await pipeline.exec())?.find(([error]) => error !== null);
    if (failed !== undefined) throw failed[0];
  };
  return {
    append: async (requests) => {
      if (!isReady()) throw new Error('no connection to Redis');
      const apps = [...requests];
      for (let i = 0; i < apps.length; i += APPS_AT_ONCE) await appendSome(apps.slice(i, i + APPS_AT_ONCE));
    },
    find: async (clientId) => {
      try {
        const texts = isReady() ? await client.lrange(toKey(clientId), 0, KEPT_REQUESTS - 1) : null;
        return texts?.flatMap(fromText) ?? null;
      } catch (err) {
        log.warn({ err }, 'reading the request log of an app from Redis failed');
        return null;
      }
    },
  };
}

/** The version changes with the format, because gateways of two releases run side by side during an update. */
function toKey(clientId: string): string {
  return `phds:requests:v1:${clientId}`;
}

function toText({ requestId, at, method, endpoint, status, code, ms, fault }: LoggedRequest): string {
  const values = [requestId, at, method, endpoint, status, code, ms];
  return JSON.stringify(fault === undefined ? values : [...values, fault]);
}

/** One request, or none when a newer release stored a code that this one does not know. */
function fromText(text: string): LoggedRequest[] {
  const stored = storedRequest.safeParse(JSON.parse(text));
  if (!stored.success) return [];
  const [requestId, at, method, endpoint, status, code, ms, fault] = stored.data;
  return [{ requestId, at, method, endpoint, status, code, ms, fault }];
}
