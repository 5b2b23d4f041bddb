import { fromBinary } from '@bufbuild/protobuf';
import { EvictionSchema } from '@phds/contracts/phds/events/v1/eviction_pb';
import { type RedisSubscriber, type RedisTls, subscribeRedis } from '@phds/service-kit/redis';
import type { Logger } from '@phds/service-kit/telemetry/log';
import { type AccessTokens, toCacheKey } from './access-tokens.ts';

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
