import { MAX_SESSION_SECONDS } from '@phds/service-kit/trust/session';
import { SignInFailure } from '../../clients/sign-in-failure.ts';
import type { SignInAttempt } from '../../domain/sign-in-attempt.ts';
import { sessionCookieName, toSetCookie } from '../cookies.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { splitUrl } from '../query.ts';
import { answerFailure } from './failure.ts';
import { limitSignIns } from './limit.ts';
import { sendNotSetUp, sendUnknownAttempt } from './pages.ts';
import { sendToPage } from './send-back.ts';
import type { SignIn } from './sign-in.ts';
import { toSignInRequest } from './sign-in-request.ts';

/** Browsers keep no longer cookie (RFC 6265 section 6.1). */
const MAX_COOKIE_BYTES = 4_096;

/** `GET /sign-in/callback`: finishes a sign-in that this browser began, at any gateway. */
export async function finishSignIn(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { request, response } = exchange;
  if (!(await limitSignIns(gateway, exchange, 'finish'))) return;
  const { signIn, config } = gateway;
  if (signIn === null) return sendNotSetUp(exchange);
  const { rawQuery } = splitUrl(request.originalUrl);
  const state = new URLSearchParams(rawQuery).get('state') ?? '';
  const attempt = await signIn.attempts.find(request, state);
  if (attempt === null) return sendUnknownAttempt(exchange);
  // Each attempt ends with its first answer.
  const ended = signIn.attempts.remove(attempt);
  response.setHeader('Set-Cookie', ended);
  try {
    const cookie = await receiveSession(gateway, signIn, attempt, rawQuery);
    response.setHeader('Set-Cookie', [ended, cookie]);
    sendToPage(config, response, attempt.returnTo);
  } catch (error) {
    answerFailure(gateway, exchange, attempt, error);
  }
}

/** The `Set-Cookie` value of the session, which replaces any other of its name. */
async function receiveSession(
  { config, clock }: Gateway,
  { provider, verify }: SignIn,
  attempt: SignInAttempt,
  rawQuery: string,
): Promise<string> {
  const callback = new URL(`${config.PUBLIC_URL}/sign-in/callback?${rawQuery}`);
  const idToken = await provider.exchange(callback, toSignInRequest(config, attempt));
  const name = sessionCookieName(config.PUBLIC_URL);
  const bytes = Buffer.byteLength(toSetCookie(name, idToken, MAX_SESSION_SECONDS));
  if (bytes > MAX_COOKIE_BYTES) throw new SignInFailure('too_long', `${bytes}_bytes`);
  const { expiresAt, acr } = await verify(idToken);
  if (attempt.stepUp && !isAccepted(acr, config.STEP_UP_ACR)) throw new SignInFailure('not_confirmed', 'acr');
  return toSetCookie(name, idToken, Math.floor((expiresAt.getTime() - clock.now().getTime()) / 1000));
}

/** The provider may ignore the requested `acr`; its age it may not (`max_age`), so that is checked with the answer. */
function isAccepted(acr: string | null, accepted: readonly string[]): boolean {
  return accepted.length === 0 || (acr !== null && accepted.includes(acr));
}
