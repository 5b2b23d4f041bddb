import { createPublicClient, type EgressFailure } from '@phds/service-kit/egress/public-client';

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
  config: { readonly JWKS_PROXY?: string | undefined; readonly JWKS_ALLOW_LOOPBACK: boolean },
  onProxyFailure: (error: unknown) => void,
) {
  const { JWKS_PROXY: url, JWKS_ALLOW_LOOPBACK: allowLoopback } = config;
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
