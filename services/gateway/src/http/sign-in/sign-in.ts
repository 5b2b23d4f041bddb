import { randomBytes } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type AppError, toAppError, unavailable } from '@phds/service-kit/errors';
import { MAX_SESSION_SECONDS } from '@phds/service-kit/trust/session';
import { SignInFailure, type SignInRequest } from '../../clients/openid-provider.ts';
import type { Config } from '../../config.ts';
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
  toNotConfirmed,
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
 * `GET /sign-in?return_to=/own/path[&silent=1][&step_up=1][&switch=1]`: sends the browser to the provider. With `silent`, the provider
 * must not ask anything; with `step_up`, the person must confirm who they are as the step-up settings say; with `switch`, the person
 * chooses an account.
 */
async function beginSignIn(exchange: Exchange): Promise<void> {
  const { gateway, request, response } = exchange;
  if (!(await limitSignIns(exchange, 'begin'))) return;
  const attempt = newAttempt(splitUrl(request.originalUrl).rawQuery);
  const { signIn, config } = gateway;
  if (signIn === null)
    return attempt.silent ? sendBack(config, response, attempt) : sendPage(exchange, NOT_SET_UP, 503);
  try {
    const location = await signIn.provider.findAuthorizationUrl(toSignInRequest(config, attempt));
    response.setHeader('Set-Cookie', await signIn.attempts.keep(request, attempt));
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
    silent: parameters.get('silent') === '1',
    stepUp: parameters.get('step_up') === '1',
    switchAccount: parameters.get('switch') === '1',
  };
}

/** 256 bits, the length that RFC 7636 (4.1) recommends for a code verifier. */
function newRandom(): string {
  return randomBytes(32).toString('base64url');
}

/** Browsers keep no longer cookie (RFC 6265 section 6.1). */
const MAX_COOKIE_BYTES = 4_096;

/** `GET /sign-in/callback`: finishes a sign-in that this browser began, at any gateway. */
async function finishSignIn(exchange: Exchange): Promise<void> {
  const { gateway, request, response } = exchange;
  if (!(await limitSignIns(exchange, 'finish'))) return;
  const { signIn, config } = gateway;
  if (signIn === null) return sendPage(exchange, NOT_SET_UP, 503);
  const { rawQuery } = splitUrl(request.originalUrl);
  const state = new URLSearchParams(rawQuery).get('state') ?? '';
  const attempt = await signIn.attempts.find(request, state);
  if (attempt === null) return sendPage(exchange, UNKNOWN_ATTEMPT, 400);
  // Each attempt ends with its first answer.
  const ended = signIn.attempts.remove(attempt);
  response.setHeader('Set-Cookie', ended);
  try {
    const cookie = await receiveSession(gateway, signIn, attempt, rawQuery);
    response.setHeader('Set-Cookie', [ended, cookie]);
    sendToPage(config, response, attempt.returnTo);
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

/**
 * Answers a sign-in that failed: with a page, or, if it was silent, by returning to where the person was, because they did not ask
 * for it. Logs codes and reasons only, never an answer of the provider.
 */
function answerFailure(exchange: Exchange, attempt: SignInAttempt, caught: unknown): void {
  const failure = toFailure(caught);
  const { gateway, requestId, route, response } = exchange;
  const { kind, detail } = failure;
  const line = { requestId, route, silent: attempt.silent, kind, detail };
  if (kind === 'refused') gateway.log.info(line, 'the provider refused a sign-in');
  else gateway.log.warn(line, 'sign-in failed');
  if (attempt.silent) sendBack(gateway.config, response, attempt);
  else if (kind === 'refused') sendPage(exchange, toRefused(attempt, detail), 403);
  else if (kind === 'unavailable') {
    sendPage(exchange, toUnavailable(attempt), 503, errorHeaders(unavailable()));
  } else if (kind === 'too_long') sendPage(exchange, TOO_LONG, 502);
  else if (kind === 'not_confirmed') sendPage(exchange, toNotConfirmed(attempt), 403);
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

/** What the provider is asked for an attempt. Computed again for the answer, which must match it. */
function toSignInRequest(config: Config, attempt: SignInAttempt): SignInRequest {
  const { state, nonce, codeVerifier, silent, stepUp, switchAccount } = attempt;
  const { STEP_UP_MAX_AGE_SECONDS: maxAgeSeconds = null, STEP_UP_ACR: acrValues } = config;
  const strength = stepUp ? { maxAgeSeconds, acrValues } : { maxAgeSeconds: null, acrValues: [] };
  return { state, nonce, codeVerifier, silent, switchAccount, ...strength };
}

/** Returns to the page after a sign-in. The address is absolute, so that the path cannot name another host. */
function sendToPage({ PUBLIC_URL }: Pick<Config, 'PUBLIC_URL'>, response: ServerResponse, path: string) {
  redirect(response, PUBLIC_URL + path);
}

/** Returns from a silent sign-in that failed: the page then offers to sign in. */
function sendBack(
  config: Pick<Config, 'PUBLIC_URL'>,
  response: ServerResponse,
  { returnTo }: SignInAttempt,
): void {
  sendToPage(config, response, `${returnTo}#sign-in-required`);
}
