import { fromBinary } from '@bufbuild/protobuf';
import { EvictionSchema } from '@phds/contracts/phds/events/v1/eviction_pb';
import { type RedisSubscriber, type RedisTls, subscribeRedis } from '@phds/service-kit/redis';
import type { Logger } from '@phds/service-kit/telemetry/log';
import { toCacheKey } from './authenticator.ts';
import type { EvictionSubject, PrincipalCache } from './principal-cache.ts';

const CHANNEL = 'phds.events.v1';

/**
 * Evicts cached tokens when consent publishes that something has ended. Best effort: an entry whose eviction is lost still expires
 * within a minute.
 */
export function subscribeEvictions(
  { url, tls }: { readonly url: string; readonly tls: RedisTls },
  cache: PrincipalCache,
  log: Logger,
): RedisSubscriber {
  return subscribeRedis(
    url,
    {
      channels: [CHANNEL],
      onMessage: (_channel, payload) => applyEviction(payload, cache, log),
      // Messages published while disconnected are lost, so any entry may be out of date.
      onSubscribed: () => cache.clear(),
    },
    log,
    { tls },
  );
}

/** Applies one published message. An unreadable message clears the whole cache. */
export function applyEviction(payload: Uint8Array, cache: PrincipalCache, log: Logger): void {
  const subject = findSubject(payload);
  if (subject === null) {
    log.warn('unreadable eviction message; clearing the whole token cache');
    cache.clear();
  } else cache.evict(subject);
}

function findSubject(payload: Uint8Array): EvictionSubject | null {
  try {
    const { subject } = fromBinary(EvictionSchema, payload);
    switch (subject.case) {
      case 'tokenHash':
        return { kind: 'token', value: toCacheKey(subject.value) };
      case 'familyId':
        return { kind: 'family', value: subject.value };
      case 'grantId':
        return { kind: 'grant', value: subject.value };
      case 'clientId':
        return { kind: 'client', value: subject.value };
      default:
        return null;
    }
  } catch {
    return null;
  }
}
