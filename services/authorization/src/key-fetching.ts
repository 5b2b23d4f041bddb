import type { Clock } from '@phds/service-kit/clock';
import { createPublicClient, type EgressFailure } from '@phds/service-kit/egress/public-client';
import { queryRows, readStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import type { App } from './app.ts';
import { type ParsedKeys, parseFetchedKeys } from './public-keys.ts';
import type { PrismaClient } from './store/generated/client.ts';

const CLAIM = readStatement(new URL('store/sql/claim-key-places.sql', import.meta.url));

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

/** Where the keys of an app are. */
type KeyPlace = Pick<App, 'clientId' | 'jwksUri'>;

export function createKeyFetching(dependencies: {
  readonly pool: pg.Pool;
  readonly prisma: PrismaClient;
  readonly keySource: Pick<KeySource, 'fetch'>;
  readonly clock: Clock;
  /** Receives why the keys of an app were not fetched; empty when they were. */
  readonly onFetched: (clientId: string, failure: string) => void;
}): KeyFetching {
  const { pool, prisma, keySource, clock, onFetched } = dependencies;
  const wanted = new Set<string>();

  async function fetch({ clientId, jwksUri }: KeyPlace, now: Date, signal: AbortSignal): Promise<void> {
    const answer = await keySource.fetch(jwksUri, signal).catch(() => null);
    // The service ends. The place is due again after REFRESH_MS.
    if (answer === null) return;
    const keys: ParsedKeys = 'fault' in answer ? answer : parseFetchedKeys(answer.text);
    const data =
      'fault' in keys
        ? { jwksFailure: keys.fault }
        : { jwks: keys.jwks, jwksFetchedAt: now, jwksFailure: '' };
    // The app may have another place by now.
    await prisma.app.updateMany({ where: { clientId, jwksUri }, data });
    onFetched(clientId, data.jwksFailure);
  }

  return {
    want: (clientId) => void wanted.add(clientId),
    async fetchDue(signal) {
      const now = clock.now();
      const before = (milliseconds: number) => new Date(now.getTime() - milliseconds);
      const values = [now, before(REFRESH_MS), before(UNKNOWN_KEY_MS), [...wanted], BATCH];
      wanted.clear();
      const rows = await queryRows<KeyPlace>(pool, CLAIM, ...values);
      await Promise.all(rows.map((place) => fetch(place, now, signal)));
    },
  };
}

const MAX_BYTES = 65_536;
const FETCH_MS = 3_000;
const JSON_TYPE = /^application\/([\w.+-]+\+)?json\b/i;

const FAULTS = {
  status: 'the answer has the status {}',
  redirected: 'the answer is a redirect ({}), which is not followed',
  timed_out: 'there was no whole answer in time',
  name_not_resolved: 'the name of the host does not resolve',
  address_not_allowed: 'the host has a private or reserved address',
  tls_failed: 'there was no TLS connection with a valid certificate',
  connection_failed: 'there was no connection',
} as const satisfies Record<EgressFailure, string>;

export type KeySource = ReturnType<typeof createKeySource>;

/** Key sets of apps over HTTPS. Other failures of the proxy than about one host are reported to `onProxyFailure`. */
export function createKeySource(
  config: { readonly EGRESS_PROXY?: string | undefined; readonly EGRESS_ALLOW_LOOPBACK: boolean },
  onProxyFailure: (error: unknown) => void,
) {
  const { EGRESS_PROXY: url, EGRESS_ALLOW_LOOPBACK: allowLoopback } = config;
  const proxy = url === undefined ? undefined : { url: new URL(url), onFailure: onProxyFailure };
  const client = createPublicClient({ allowLoopback, proxy, attemptMs: FETCH_MS });
  const headers = { accept: 'application/jwk-set+json, application/json' };
  return {
    /** Whether a URL may be fetched, as far as it tells. */
    mayFetch: client.mayRequest,
    /** Rejects only if the signal is aborted. */
    async fetch(
      uri: string,
      signal: AbortSignal,
    ): Promise<{ readonly text: string } | { readonly fault: string }> {
      const answer = await client.get({ url: uri, headers, maxBytes: MAX_BYTES }, signal);
      const { status, failure, contentType, body } = answer;
      if (failure !== null) return { fault: FAULTS[failure].replace('{}', String(status)) };
      if (!JSON_TYPE.test(contentType)) return { fault: 'the answer must be JSON by its Content-Type' };
      return body === null ? { fault: `the answer has more than ${MAX_BYTES} bytes` } : { text: body };
    },
  };
}
