import { PROBLEM_CODES } from '@phds/catalog/problems';
import type { RedisConnection } from '@phds/service-kit/redis';
import type { Logger } from '@phds/service-kit/telemetry/log';
import { z } from 'zod';
import { KEPT_HOURS, KEPT_REQUESTS, type LoggedRequest, type SharedRequestLog } from './request-log.ts';

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

function toText({ requestId, at, method, endpoint, status, code, ms }: LoggedRequest): string {
  return JSON.stringify([requestId, at, method, endpoint, status, code, ms]);
}

/** One request, or none when a newer release stored a code that this one does not know. */
function fromText(text: string): LoggedRequest[] {
  const stored = storedRequest.safeParse(JSON.parse(text));
  if (!stored.success) return [];
  const [requestId, at, method, endpoint, status, code, ms] = stored.data;
  return [{ requestId, at, method, endpoint, status, code, ms }];
}
