import type { Clock } from '@phds/service-kit/clock';
import type { KeySource } from './clients/key-source.ts';
import { parseFetchedKeys } from './public-keys.ts';
import type { FetchedKeysStore, KeyPlace } from './store/pg-fetched-keys.ts';

const REFRESH_MS = 5 * 60 * 1000;
/** A key that an assertion names may be new, but everybody can name one. */
const UNKNOWN_KEY_MS = 30 * 1000;
/** How many sets are fetched at once. */
const BATCH = 32;

/** Fetches the keys of apps from their `jwksUri`, never within a request, whose duration would tell which apps exist. */
export interface KeyFetching {
  /** Says that an assertion named an unknown key of this app. */
  want(clientId: string): void;
  /** Fetches what is due. Replicas may do so at the same time: each set is fetched by one. */
  fetchDue(signal: AbortSignal): Promise<void>;
}

export function createKeyFetching(dependencies: {
  readonly fetchedKeys: FetchedKeysStore;
  readonly keySource: Pick<KeySource, 'fetch'>;
  readonly clock: Clock;
  /** Receives why the keys of an app were not fetched; empty when they were. */
  readonly onFetched: (clientId: string, failure: string) => void;
}): KeyFetching {
  const { fetchedKeys, keySource, clock, onFetched } = dependencies;
  const wanted = new Set<string>();

  async function fetch(place: KeyPlace, now: Date, signal: AbortSignal): Promise<void> {
    const answer = await keySource.fetch(place.jwksUri, signal).catch(() => null);
    // The service ends. The place is due again after REFRESH_MS.
    if (answer === null) return;
    const keys = 'fault' in answer ? answer : parseFetchedKeys(answer.text);
    await fetchedKeys.put(place, keys, now);
    onFetched(place.clientId, 'fault' in keys ? keys.fault : '');
  }

  return {
    want: (clientId) => void wanted.add(clientId),
    async fetchDue(signal) {
      const now = clock.now();
      const before = (milliseconds: number) => new Date(now.getTime() - milliseconds);
      const named = { clientIds: [...wanted], askedBefore: before(UNKNOWN_KEY_MS) };
      wanted.clear();
      const places = await fetchedKeys.claim({ now, askedBefore: before(REFRESH_MS), named, limit: BATCH });
      await Promise.all(places.map((place) => fetch(place, now, signal)));
    },
  };
}
