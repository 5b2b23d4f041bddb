import { hashText, randomText } from './base64url.ts';
import type { Credentials } from './credentials.ts';
import { PhdsError } from './errors.ts';
import type { components } from './generated/openapi.ts';
import type { CallOptions } from './http.ts';
import { toParameters } from './http.ts';
import type { OauthEndpoints } from './oauth.ts';
import type { TokenSet } from './token-store.ts';

/** A kind of data. Any text is accepted, because later versions of the service have more. */
export type Scope = components['schemas']['Scope'] | (string & Readonly<Record<never, never>>);

/** What your app asks a person for. */
export interface AuthorizationRequest extends CallOptions {
  /** Ask for what you need now; you can ask for more later. */
  readonly scopes: readonly Scope[];
  /** Why, in a sentence that the person reads. Shown only when the app has authenticated itself. */
  readonly purpose?: string;
  /** Returned to your callback unchanged. Default: 256 random bits. */
  readonly state?: string;
}

/** What has to be kept until the callback, in the session of this one browser. Plain JSON. */
export interface KeptAuthorization {
  readonly state: string;
  readonly codeVerifier: string;
  readonly redirectUri: string;
}

/** A started authorization. */
export interface Authorization {
  /** Send the browser here. It works for ten minutes. */
  readonly url: string;
  readonly kept: KeptAuthorization;
}

interface Place {
  readonly oauth: OauthEndpoints;
  readonly credentials: Credentials;
  readonly redirectUri: string;
  readonly issuer: string;
}

/** Pushes the request (RFC 9126) with PKCE (RFC 7636), so the browser carries none of its parameters. */
export async function startAuthorization(
  place: Place,
  request: AuthorizationRequest,
): Promise<Authorization> {
  const { redirectUri } = place;
  const kept = { state: request.state ?? randomText(), codeVerifier: randomText(), redirectUri };
  const form = {
    response_type: 'code',
    redirect_uri: redirectUri,
    scope: request.scopes.join(' '),
    state: kept.state,
    code_challenge: await hashText(kept.codeVerifier),
    code_challenge_method: 'S256',
    purpose: request.purpose,
    // The tokens replace those that the app holds, so they must not open less.
    include_granted_scopes: 'true',
  };
  if (!place.credentials.areComplete) {
    const query = toParameters({ client_id: place.credentials.clientId, ...form });
    return { url: `${place.issuer}/oauth/authorize?${query}`, kept };
  }
  const { signal, retryBudgetMs } = request;
  const answer = (await place.oauth.post('/oauth/par', form, { signal, retryBudgetMs })) as {
    readonly approval_uri: string;
  };
  return { url: answer.approval_uri, kept };
}

/** Checks the callback and exchanges its code. */
export async function finishAuthorization(
  place: Place,
  callbackUrl: string | URL,
  kept: KeptAuthorization,
  options: CallOptions,
): Promise<TokenSet> {
  // The base is for frameworks that give the path only.
  const { searchParams } = new URL(callbackUrl, kept.redirectUri);
  const code = readCallback(searchParams, kept.state, place.issuer);
  const form = {
    grant_type: 'authorization_code',
    code,
    redirect_uri: kept.redirectUri,
    code_verifier: kept.codeVerifier,
  };
  return place.oauth.requestTokens(form, options);
}

/** The code of a callback that belongs to this state (RFC 6749 10.12) and comes from this issuer (RFC 9207). */
function readCallback(parameters: URLSearchParams, state: string, issuer: string): string {
  if (parameters.get('state') !== state) {
    throw new PhdsError(
      'CALLBACK_REFUSED',
      'The callback has another `state` than the authorization in this session.',
    );
  }
  if (parameters.get('iss') !== issuer) {
    throw new PhdsError(
      'CALLBACK_REFUSED',
      `The callback names the issuer ${parameters.get('iss')}, not ${issuer}.`,
    );
  }
  const error = parameters.get('error');
  if (error === 'access_denied')
    throw new PhdsError('ACCESS_DENIED', 'The person did not approve the request.');
  if (error !== null) {
    const description = parameters.get('error_description');
    throw new PhdsError('AUTHORIZATION_FAILED', description === null ? error : `${error}: ${description}`);
  }
  const code = parameters.get('code');
  if (code !== null) return code;
  throw new PhdsError('CALLBACK_REFUSED', 'The callback has neither a code nor an error.');
}
