import { randomBytes } from 'node:crypto';
import { type AppError, toAppError, unavailable } from '@phds/service-kit/errors';
import { MAX_SESSION_SECONDS } from '@phds/service-kit/trust/session';
import { SignInFailure } from '../../clients/openid-provider.ts';
import { type SignInAttempt, toReturnPath } from '../../domain/sign-in-attempt.ts';
import { applyAllowance } from '../allowance.ts';
import { sessionCookieName, toSetCookie } from '../credentials.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway, SignIn } from '../gateway.ts';
import { errorHeaders } from '../http-error.ts';
import type { Route } from '../operation.ts';
import { sendPage } from '../pages/page.ts';
import { splitUrl } from '../query.ts';
import { redirect } from '../respond.ts';
import {
  NOT_SET_UP,
  TOO_LONG,
  TOO_MANY,
  toInvalid,
  toRefused,
  toUnavailable,
  UNKNOWN_ATTEMPT,
} from './pages.ts';

/** Signing in happens on pages. */
export const SIGN_IN_PAGES: readonly Route[] = [
  { method: 'GET', path: '/sign-in', handle: beginSignIn },
  { method: 'GET', path: '/sign-in/callback', securityEvent: 'sign-in', handle: finishSignIn },
];

/**
 * `GET /sign-in?return_to=/own/path[&switch=1]`: sends the browser to the provider. With `switch`, the person chooses an account.
 * Replaces a sign-in of this browser that is not finished.
 */
async function beginSignIn(exchange: Exchange): Promise<void> {
  const { gateway, request, response } = exchange;
  if (!(await limitSignIns(exchange, 'begin'))) return;
  const { signIn } = gateway;
  if (signIn === null) return sendPage(exchange, NOT_SET_UP, 503);
  const attempt = newAttempt(splitUrl(request.originalUrl).rawQuery);
  try {
    const location = await signIn.provider.findAuthorizationUrl(attempt);
    response.setHeader('Set-Cookie', await signIn.attempt.keep(attempt));
    redirect(response, location);
  } catch (error) {
    answerFailure(exchange, attempt, error);
  }
}

function newAttempt(rawQuery: string): SignInAttempt {
  const parameters = new URLSearchParams(rawQuery);
  return {
    state: newRandom(),
    nonce: newRandom(),
    codeVerifier: newRandom(),
    returnTo: toReturnPath(parameters.get('return_to')),
    switchAccount: parameters.get('switch') === '1',
  };
}

/** 256 bits, the length that RFC 7636 (4.1) recommends for a code verifier. */
function newRandom(): string {
  return randomBytes(32).toString('base64url');
}

/** Browsers keep no longer cookie (RFC 6265 section 6.1). */
const MAX_COOKIE_BYTES = 4_096;

/** `GET /sign-in/callback`: finishes the sign-in that this browser began last, at any gateway. The answer to an earlier one is refused. */
async function finishSignIn(exchange: Exchange): Promise<void> {
  const { gateway, request, response } = exchange;
  if (!(await limitSignIns(exchange, 'finish'))) return;
  const { signIn, config } = gateway;
  if (signIn === null) return sendPage(exchange, NOT_SET_UP, 503);
  const { rawQuery } = splitUrl(request.originalUrl);
  const state = new URLSearchParams(rawQuery).get('state') ?? '';
  const attempt = await signIn.attempt.find(request, state);
  if (attempt === null) return sendPage(exchange, UNKNOWN_ATTEMPT, 400);
  // Each attempt ends with its first answer.
  const ended = signIn.attempt.removal;
  response.setHeader('Set-Cookie', ended);
  try {
    const cookie = await receiveSession(gateway, signIn, attempt, rawQuery);
    response.setHeader('Set-Cookie', [ended, cookie]);
    // Absolute, so that the path cannot name another host.
    redirect(response, config.PUBLIC_URL + attempt.returnTo);
  } catch (error) {
    answerFailure(exchange, attempt, error);
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
  const idToken = await provider.exchange(callback, attempt);
  const name = sessionCookieName(config.PUBLIC_URL);
  const bytes = Buffer.byteLength(toSetCookie(name, idToken, MAX_SESSION_SECONDS));
  if (bytes > MAX_COOKIE_BYTES) throw new SignInFailure('too_long', `${bytes}_bytes`);
  const { expiresAt } = await verify(idToken);
  return toSetCookie(name, idToken, Math.floor((expiresAt.getTime() - clock.now().getTime()) / 1000));
}

/** Answers a sign-in that failed with a page. Logs codes and reasons only, never an answer of the provider. */
function answerFailure(exchange: Exchange, attempt: SignInAttempt, caught: unknown): void {
  const failure = toFailure(caught);
  const { gateway, requestId, route } = exchange;
  const { kind, detail } = failure;
  const line = { requestId, route, kind, detail };
  if (kind === 'refused') gateway.log.info(line, 'the provider refused a sign-in');
  else gateway.log.warn(line, 'sign-in failed');
  if (kind === 'refused') sendPage(exchange, toRefused(attempt, detail), 403);
  else if (kind === 'unavailable') {
    sendPage(exchange, toUnavailable(attempt), 503, errorHeaders(unavailable()));
  } else if (kind === 'too_long') sendPage(exchange, TOO_LONG, 502);
  else sendPage(exchange, toInvalid(attempt, requestId), 502);
}

/** Our own verification of the ID token throws `unauthorized`, or `unavailable` when the provider's keys cannot be fetched. */
function toFailure(caught: unknown): SignInFailure {
  if (caught instanceof SignInFailure) return caught;
  const error = toAppError(caught);
  if (error.reason === 'unauthorized') return new SignInFailure('invalid', toDetail(error.cause));
  if (error.reason === 'unavailable') return new SignInFailure('unavailable', 'keys_unreachable');
  throw error;
}

/** The verifier gives the reason as a text or as an error of jose, whose messages contain names of claims but no values. */
function toDetail(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause);
}

/** Counts a step of a sign-in by address. Beyond the limit sends a page and returns false. */
async function limitSignIns(exchange: Exchange, step: 'begin' | 'finish'): Promise<boolean> {
  const { gateway, request, response } = exchange;
  try {
    applyAllowance(response, await gateway.surfaceLimits.takeForSignIn(step, request.ip ?? ''));
    return true;
  } catch (caught) {
    const error: AppError = toAppError(caught);
    if (error.reason !== 'rate_limited') throw error;
    sendPage(exchange, TOO_MANY, 429, errorHeaders(error));
    return false;
  }
}
