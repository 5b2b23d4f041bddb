import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { EvictionSchema } from '@phds/contracts/phds/events/v1/eviction_pb';
import type { Clock } from '@phds/service-kit/clock';
import { newId } from '@phds/service-kit/ids';
import { openRedis, toRedisTls } from '@phds/service-kit/redis';
import type { Logger } from '@phds/service-kit/telemetry/log';
import type { Config } from './config.ts';
import type { ConsentMetrics } from './metrics.ts';

/** The subject of an eviction. */
type EvictionSubject =
  | { readonly case: 'tokenHash'; readonly value: Uint8Array }
  | { readonly case: 'familyId' | 'grantId' | 'clientId'; readonly value: string };

export interface EvictionPublisher {
  /**
   * Best effort, after the commit: returns immediately and never throws. A lost eviction delays a refusal in gateways but releases
   * no data.
   */
  publish(subject: EvictionSubject): void;
}

/** The channel that gateways subscribe to. The payload is a binary `phds.events.v1.Eviction`. */
const EVICTION_CHANNEL = 'phds.events.v1';

/**
 * Publishes to the Redis server of the settings without waiting. Without a server, or while it is unavailable, gateways refuse later,
 * when their cache entries expire (60 s), but no revoked data is released.
 */
export function openEvictions(
  config: Config,
  { clock, log, metrics }: { readonly clock: Clock; readonly log: Logger; readonly metrics: ConsentMetrics },
  resources: AsyncDisposableStack,
): EvictionPublisher {
  const { REDIS_URL: url } = config;
  if (url === undefined) return { publish: () => undefined };
  const redis = resources.use(openRedis(url, log, { tls: toRedisTls(config) }));
  metrics.measureRedis(redis);
  const onOutcome = metrics.countEviction;
  return {
    publish(subject) {
      if (!redis.isReady()) return onOutcome('not_connected');
      const eviction = create(EvictionSchema, {
        id: newId('evt'),
        occurredAt: timestampFromDate(clock.now()),
        subject,
      });
      redis.client.publish(EVICTION_CHANNEL, Buffer.from(toBinary(EvictionSchema, eviction))).then(
        () => onOutcome('published'),
        (err: unknown) => {
          onOutcome('failed');
          log.debug({ err, eviction: eviction.id }, 'eviction not published');
        },
      );
    },
  };
}
