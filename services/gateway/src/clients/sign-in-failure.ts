import { AuthorizationResponseError, ClientError, ResponseBodyError } from 'openid-client';

/**
 * Why a sign-in failed: the provider refused it, the provider cannot be reached or cannot answer now, its answer is not
 * acceptable, its ID token does not fit in a cookie, or it did not confirm the person as a step-up demands.
 */
export type SignInFailureKind = 'refused' | 'unavailable' | 'invalid' | 'too_long' | 'not_confirmed';

/** Contains neither a token nor a code, so it may be logged. It has no cause: the library's errors contain whole answers. */
export class SignInFailure extends Error {
  readonly kind: SignInFailureKind;
  /** An error code of the provider or of the library, or the reason why the ID token is not a session. */
  readonly detail: string;

  constructor(kind: SignInFailureKind, detail: string) {
    super(`sign-in failed: ${kind} (${detail})`);
    this.name = 'SignInFailure';
    this.kind = kind;
    this.detail = detail;
  }
}

const TEMPORARY: ReadonlySet<string> = new Set(['server_error', 'temporarily_unavailable']);
const NO_ANSWER: ReadonlySet<string> = new Set(['OAUTH_TIMEOUT', 'OAUTH_ABORT']);
const CODE = /^\w{1,64}$/;

/** Translates an error of `openid-client`. */
export function toSignInFailure(caught: unknown): SignInFailure {
  if (caught instanceof SignInFailure) return caught;
  if (caught instanceof AuthorizationResponseError) {
    return new SignInFailure(TEMPORARY.has(caught.error) ? 'unavailable' : 'refused', toCode(caught.error));
  }
  if (caught instanceof ResponseBodyError) {
    return new SignInFailure(isTemporary(caught.status) ? 'unavailable' : 'invalid', toCode(caught.error));
  }
  // An error that the library does not know is one of the network.
  if (!(caught instanceof ClientError) || caught.code === undefined) return unreachable();
  const { code, cause } = caught;
  const status = cause instanceof Response ? cause.status : 0;
  if (NO_ANSWER.has(code) || isTemporary(status)) return new SignInFailure('unavailable', toCode(code));
  return new SignInFailure('invalid', toCode(code));
}

function unreachable(): SignInFailure {
  return new SignInFailure('unavailable', 'unreachable');
}

function isTemporary(status: number): boolean {
  return status >= 500 || status === 429;
}

/** The provider's codes come from a URL or a body, which may contain anything. */
function toCode(code: string): string {
  return CODE.test(code) ? code : 'other';
}
