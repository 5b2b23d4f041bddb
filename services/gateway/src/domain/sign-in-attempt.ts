/** A sign-in that was begun in a browser and has not come back yet. */
export interface SignInAttempt {
  /** Random values that tie the provider's answer to this attempt. */
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Path of the page to return to. */
  readonly returnTo: string;
  /** Whether the provider must not ask the person anything. */
  readonly silent: boolean;
  /** Whether the person must confirm who they are, as the step-up settings say. */
  readonly stepUp: boolean;
  /** Whether the provider must let the person choose an account. */
  readonly switchAccount: boolean;
}
