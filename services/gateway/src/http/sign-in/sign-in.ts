import { randomBytes } from 'node:crypto';
import type { PageMessageCode } from '@phds/catalog/page-messages';
import { type AppError, toAppError, unavailable } from '@phds/service-kit/errors';
import { MAX_SESSION_SECONDS } from '@phds/service-kit/trust/session';
import { SignInFailure, type SignInFailureKind } from '../../clients/openid-provider.ts';
import { toAddressKey } from '../../limits/limits.ts';
import { sessionCookieName, toSetCookie } from '../credentials.ts';
import { type Exchange, takeFromLimit } from '../exchange.ts';
import type { Gateway, SignIn } from '../gateway.ts';
import { HttpError } from '../http-error.ts';
import type { Route } from '../operation.ts';
import { splitUrl } from '../query.ts';
import { redirect } from '../respond.ts';
import { showMessage } from '../web/web-page.ts';
import type { SignInAttempt } from './attempt-cookie.ts';

/** A browser that cannot be sent on is shown a message. */
export const SIGN_IN_ROUTES: readonly Route[] = [
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
  if (signIn === null) return refuseWithoutProvider(exchange);
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

const LONGEST_PATH = 1_000;
const OWN_ORIGIN = 'https://own.invalid';
/** A path in printable ASCII without backslashes, which browsers read as slashes. */
const PATH = /^\/(?!\/)[!-[\]-~]*$/;
const SIGN_IN_PAGE = /^\/sign-(in|out)(\/|$)/;

/**
 * The page that a sign-in returns to: `asked` if it is the path of one of our own pages, else `/`. The path has no fragment, and
 * never begins with `//`, which a browser would read as another host. Pages of the sign-in itself are not returned to.
 */
export function toReturnPath(asked: string | null): string {
  if (asked === null || asked.length > LONGEST_PATH || !PATH.test(asked)) return '/';
  // Resolves `.` and `..`, also in their encoded forms, as a browser does.
  const url = URL.parse(asked, OWN_ORIGIN);
  if (url?.origin !== OWN_ORIGIN || url.pathname.startsWith('//') || SIGN_IN_PAGE.test(url.pathname))
    return '/';
  return url.pathname + url.search;
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
  if (signIn === null) return refuseWithoutProvider(exchange);
  const { rawQuery } = splitUrl(request.originalUrl);
  const state = new URLSearchParams(rawQuery).get('state') ?? '';
  const attempt = await signIn.attempt.find(request, state);
  if (attempt === null) {
    const error = new HttpError(400, 'INVALID_REQUEST', 'No sign-in of this browser waits for this answer.');
    return showMessage(exchange, error, { code: 'SIGN_IN_ENDED', signIn: '/sign-in' });
  }
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

function refuseWithoutProvider(exchange: Exchange): void {
  showMessage(exchange, unavailable('OIDC_ISSUER is not set'), { code: 'SIGN_IN_NOT_SET_UP' });
}

const FAILURES: Readonly<Record<SignInFailureKind, readonly [PageMessageCode, () => AppError]>> = {
  refused: [
    'SIGN_IN_REFUSED',
    () => new HttpError(403, 'INVALID_REQUEST', 'The provider refused the sign-in.'),
  ],
  unavailable: ['SIGN_IN_UNAVAILABLE', unavailable],
  invalid: ['SIGN_IN_FAILED', badGateway],
  // Trying again does not help.
  too_long: ['SIGN_IN_TOKEN_TOO_LONG', badGateway],
};

function badGateway(): AppError {
  return new HttpError(502, 'INTERNAL_ERROR', '');
}

/** Answers a sign-in that failed. Logs codes and reasons only, never an answer of the provider. */
function answerFailure(exchange: Exchange, attempt: SignInAttempt, caught: unknown): void {
  const { gateway, requestId, route } = exchange;
  const { kind, detail } = toFailure(caught);
  const line = { requestId, route, kind, detail };
  if (kind === 'refused') gateway.log.info(line, 'the provider refused a sign-in');
  else gateway.log.warn(line, 'sign-in failed');
  const [code, toError] = FAILURES[kind];
  const retry = kind === 'too_long' ? {} : { signIn: toSignIn(attempt) };
  showMessage(exchange, toError(), { code, requestId, ...retry });
}

/** Path and query of a new sign-in with the same aim. */
function toSignIn({ returnTo, switchAccount }: SignInAttempt): string {
  return `/sign-in?${new URLSearchParams({ return_to: returnTo, ...(switchAccount ? { switch: '1' } : {}) })}`;
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

/** Counts a step of a sign-in by address. Beyond the limit refuses it and returns false. */
async function limitSignIns(exchange: Exchange, step: 'begin' | 'finish'): Promise<boolean> {
  try {
    await takeFromLimit(exchange, 'sign-ins', `${step}:${toAddressKey(exchange.request.ip ?? '')}`);
    return true;
  } catch (caught) {
    const error = toAppError(caught);
    if (error.reason !== 'rate_limited') throw error;
    showMessage(exchange, error, { code: 'SIGN_INS_LIMITED' });
    return false;
  }
}
