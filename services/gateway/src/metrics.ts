import type { RedisConnection, RedisSubscriber } from '@phds/service-kit/redis';
import { type Metrics, measureRedis } from '@phds/service-kit/telemetry/metrics';
import type { AccessTokens } from './cache/access-tokens.ts';
import { measureRequests } from './http/exchange.ts';

/** The metrics of the gateway. docs/operations/observability.md lists all of them. */
export function createGatewayMetrics(metrics: Metrics) {
  return {
    measureRequest: measureRequests(metrics),
    measureCache: (tokens: AccessTokens) => measureCache(metrics, tokens),
    measureRedis: (redis: RedisConnection) => measureRedis(metrics, redis),
    measureSubscription: (subscription: RedisSubscriber) =>
      metrics.readGauge(
        {
          name: 'phds_eviction_subscription_up',
          help: 'Whether evictions of cached tokens arrive from Redis: 1 or 0.',
        },
        () => (subscription.isSubscribed() ? 1 : 0),
      ),
    onRateLimited: createRefusalCounter(metrics),
  };
}

function measureCache(metrics: Metrics, tokens: AccessTokens): void {
  metrics.readCounters(
    { name: 'phds_token_cache_lookups_total', help: 'Look-ups of presented tokens.', labels: ['result'] },
    () => [
      [{ result: 'hit' }, tokens.counts.hits],
      [{ result: 'miss' }, tokens.counts.misses],
    ],
  );
  metrics.readGauge(
    { name: 'phds_token_cache_entries', help: 'Cached tokens, including ended ones not asked for since.' },
    () => tokens.size,
  );
  metrics.readCounter(
    {
      name: 'phds_token_cache_evictions_total',
      help: 'Evictions applied: of one token, or of all tokens of a family, grant or app.',
    },
    () => tokens.counts.evictions,
  );
}

function createRefusalCounter(metrics: Metrics): (limit: string) => void {
  const refusals = metrics.counter({
    name: 'phds_rate_limited_total',
    help: 'Requests that a limit refused, by its name.',
    labels: ['limit'],
  });
  return (limit) => refusals.inc({ limit });
}
