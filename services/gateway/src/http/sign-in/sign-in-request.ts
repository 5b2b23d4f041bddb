import type { SignInRequest } from '../../clients/openid-provider.ts';
import type { Config } from '../../config.ts';
import type { SignInAttempt } from '../../domain/sign-in-attempt.ts';

/** What the provider is asked for an attempt. Computed again for the answer, which must match it. */
export function toSignInRequest(_config: Config, attempt: SignInAttempt): SignInRequest {
  const { state, nonce, codeVerifier, silent } = attempt;
  return { state, nonce, codeVerifier, silent, maxAgeSeconds: null, acrValues: [] };
}
