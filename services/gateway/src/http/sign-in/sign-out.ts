import { toAppError, unauthorized } from '@phds/service-kit/errors';
import { SESSION_TOKEN_TYPE, toMediaType } from '@phds/service-kit/trust/session';
import { decodeProtectedHeader } from 'jose';
import { SignInFailure } from '../../clients/sign-in-failure.ts';
import { findCookie, sessionCookieName, toClearCookie } from '../cookies.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { HttpError } from '../http-error.ts';
import { sendProblem } from '../problem.ts';
import { sendJson } from '../respond.ts';
import { isSameOrigin } from '../session.ts';
import type { SignIn } from './sign-in.ts';

const MAY_GO_ON =
  'You are signed out in this browser. The session could not be ended for other places that have a copy of it; there it may go on until it expires.';

/**
 * `POST /sign-out`: removes the session cookie, even an invalid one, and ends its session at every gateway. Answers where to go on: the
 * provider's logout, or null. When the end cannot be stored, answers 503, with the cookie removed. Throws `unauthorized` for
 * cross-origin requests.
 */
export async function signOut(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { request, response, requestId, route } = exchange;
  const { config, signIn, log } = gateway;
  const { origin } = new URL(config.PUBLIC_URL);
  if (!isSameOrigin(request, origin)) throw unauthorized('sign-out from another origin');
  const name = sessionCookieName(config.PUBLIC_URL);
  response.setHeader('Set-Cookie', toClearCookie(name));
  if (signIn === null) return sendSignedOut(exchange, null);
  const jwt = findCookie(request, name);
  try {
    const ended = jwt !== null && (await endSession(gateway, signIn, jwt));
    sendSignedOut(exchange, await findContinuation(gateway, exchange, signIn, ended ? jwt : null));
  } catch (caught) {
    const err = toAppError(caught);
    if (err.reason !== 'unavailable') throw err;
    log.warn({ requestId, route, err }, 'the end of a session could not be stored');
    const refusal = new HttpError(503, 'INTERNAL_ERROR', '', { members: { detail: MAY_GO_ON } });
    sendProblem(response, refusal, requestId);
  }
}

/**
 * Returns false for a cookie without a valid session, which needs no end. Not limited: with a copy of the session, somebody else could
 * use up the limit and prevent its end. An ended session is not ended again, which would also end later ones of its `sid`.
 */
async function endSession({ backends, clock }: Gateway, { verify }: SignIn, jwt: string): Promise<boolean> {
  const session = await verify(jwt).catch((caught: unknown) => {
    if (toAppError(caught).reason === 'unauthorized') return null;
    throw caught;
  });
  if (session === null) return false;
  const { endedSessions } = backends;
  if (!(await endedSessions.isEnded(session, jwt))) await endedSessions.end(session, jwt, clock.now());
  return true;
}

/** Address of the provider's logout, with the ended ID token as a hint; null if it has none or does not answer. */
async function findContinuation(
  { log }: Gateway,
  { requestId, route }: Exchange,
  { provider }: SignIn,
  ended: string | null,
): Promise<string | null> {
  const hint = ended !== null && isIdToken(ended) ? ended : null;
  try {
    return await provider.findEndSessionUrl(hint);
  } catch (caught) {
    if (!(caught instanceof SignInFailure)) throw caught;
    log.warn({ requestId, route, detail: caught.detail }, "the provider's logout could not be found");
    return null;
  }
}

/** For a verified session: the provider does not know sessions that the host application signed. */
function isIdToken(jwt: string): boolean {
  return toMediaType(decodeProtectedHeader(jwt).typ) !== SESSION_TOKEN_TYPE;
}

function sendSignedOut({ response }: Exchange, continueTo: string | null): void {
  sendJson(response, 200, { data: { signedOut: true, continueTo } });
}
