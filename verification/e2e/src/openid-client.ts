import type { PartnerApp } from '@phds/running-system/partner-app';
import { checkedFetch } from '@phds/test-kit/checked-answers';
import * as client from 'openid-client';

/** The client's configuration after discovery. */
export function discover(from: PartnerApp, authentication: client.ClientAuth): Promise<client.Configuration> {
  return client.discovery(new URL(from.gateway), from.clientId, undefined, authentication, {
    algorithm: 'oauth2',
    // Plain http is used on this machine only.
    execute: [client.allowInsecureRequests],
    [client.customFetch]: (url, options) => checkedFetch(url, options as RequestInit),
  });
}

/** What proves that a callback belongs to this request, and the parameters of the request. */
interface Checks {
  readonly pkceCodeVerifier: string;
  readonly expectedState: string;
}

export async function newChecks(
  scope: string,
  redirectUri: string,
): Promise<{ checks: Checks; parameters: Record<string, string> }> {
  const checks = {
    pkceCodeVerifier: client.randomPKCECodeVerifier(),
    expectedState: client.randomState(),
  };
  const parameters = {
    redirect_uri: redirectUri,
    scope,
    state: checks.expectedState,
    code_challenge: await client.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
  };
  return { checks, parameters };
}
