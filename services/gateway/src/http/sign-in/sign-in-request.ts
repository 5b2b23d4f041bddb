import type { SignInRequest } from '../../clients/openid-provider.ts';
import type { Config } from '../../config.ts';
import type { SignInAttempt } from '../../domain/sign-in-attempt.ts';

/** What the provider is asked for an attempt. Computed again for the answer, which must match it. */
export function toSignInRequest(config: Config, attempt: SignInAttempt): SignInRequest {
  const { state, nonce, codeVerifier, silent, stepUp, switchAccount } = attempt;
  const { STEP_UP_MAX_AGE_SECONDS: maxAgeSeconds = null, STEP_UP_ACR: acrValues } = config;
  const strength = stepUp ? { maxAgeSeconds, acrValues } : { maxAgeSeconds: null, acrValues: [] };
  return { state, nonce, codeVerifier, silent, switchAccount, ...strength };
}
