import { type AppError, invalidRequest, notFound, toAppError, unauthorized } from '@phds/service-kit/errors';
import { SESSION_TOKEN_TYPE, toMediaType } from '@phds/service-kit/trust/session';
import { decodeProtectedHeader } from 'jose';
import { z } from 'zod';
import { SignInFailure } from '../../clients/openid-provider.ts';
import { countFailure, rateLimited } from '../../limits/limits.ts';
import { FORM_TYPE, readBody } from '../body.ts';
import { findCookie, isSameOrigin, sessionCookieName, toClearCookie } from '../credentials.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway, SignIn } from '../gateway.ts';
import { HttpError, sendError, unsupportedMediaType } from '../http-error.ts';
import { parseFormParameters } from '../oauth/client-operation.ts';
import { dataOf, text } from '../openapi/fields.ts';
import type { MountedOperation } from '../operation.ts';
import { send, sendJson } from '../respond.ts';

const signedOutJson = z.object({
  signedOut: z.literal(true),
  continueTo: text.nullable().meta({ description: 'The logout of the OpenID provider, if it has one.' }),
});

const logoutError = z.object({ error: z.literal('invalid_request'), error_description: text });

const REFUSED = {
  description: 'The logout token is refused.',
  body: logoutError,
  headers: ['Cache-Control'],
  // A URL that is too long is refused before, with an id.
  sometimes: ['X-Request-Id'],
} as const;

export const SIGN_OUT_OPERATIONS: readonly MountedOperation[] = [
  {
    method: 'POST',
    path: '/sign-out',
    operationId: 'signOut',
    tag: 'Session',
    summary: 'End the session of this browser',
    description: 'Only our own pages may send it.',
    securityEvent: 'sign-out',
    handle: signOut,
    security: 'none',
    answers: {
      200: {
        description: 'The cookie is removed, and the session ended everywhere.',
        body: dataOf(signedOutJson),
        headers: ['Cache-Control', 'Set-Cookie'],
      },
    },
    errorFormat: 'problem',
    errors: ['INVALID_REQUEST', 'UNAUTHORIZED', 'INTERNAL_ERROR'],
    errorHeaders: ['Set-Cookie'],
  },
  {
    method: 'POST',
    path: '/sign-out/back-channel',
    operationId: 'endSessions',
    tag: 'Session',
    summary: 'End sessions, as their OpenID provider (OpenID Connect Back-Channel Logout)',
    security: 'none',
    securityEvent: 'sign-out',
    handle: endByProvider,
    body: { schema: z.object({ logout_token: text }), types: [FORM_TYPE] },
    answers: {
      200: { description: 'The sessions are ended everywhere.', headers: ['Cache-Control'] },
      400: REFUSED,
      413: REFUSED,
      415: REFUSED,
    },
    errorFormat: 'problem',
    errors: [['INVALID_REQUEST', 400], 'NOT_FOUND', 'RATE_LIMITED', 'INTERNAL_ERROR'],
  },
];

const MAY_GO_ON =
  'You are signed out in this browser. The session could not be ended for other places that have a copy of it; there it may go on until it expires.';

/**
 * `POST /sign-out`: removes the session cookie, even an invalid one, and ends its session at every gateway. Answers where to go on: the
 * provider's logout, or null. When the end cannot be stored, answers 503, with the cookie removed. Throws `unauthorized` for
 * cross-origin requests.
 */
async function signOut(exchange: Exchange): Promise<void> {
  const { gateway, request, response, requestId, route } = exchange;
  const { config, signIn, log } = gateway;
  const { origin } = new URL(config.PUBLIC_URL);
  if (!isSameOrigin(request, origin)) throw unauthorized('sign-out from another origin');
  const name = sessionCookieName(config.PUBLIC_URL);
  response.setHeader('Set-Cookie', toClearCookie(name));
  if (signIn === null) return sendSignedOut(exchange, null);
  const jwt = findCookie(request, name);
  try {
    const ended = jwt !== null && (await endSession(gateway, signIn, jwt));
    sendSignedOut(exchange, await findContinuation(exchange, signIn, ended ? jwt : null));
  } catch (caught) {
    const err = toAppError(caught);
    if (err.reason !== 'unavailable') throw err;
    log.warn({ requestId, route, err }, 'the end of a session could not be stored');
    const refusal = new HttpError(503, 'INTERNAL_ERROR', '', { members: { detail: MAY_GO_ON } });
    sendError(response, 'problem', refusal, requestId);
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
  { gateway, requestId, route }: Exchange,
  { provider }: SignIn,
  ended: string | null,
): Promise<string | null> {
  const hint = ended !== null && isIdToken(ended) ? ended : null;
  try {
    return await provider.findEndSessionUrl(hint);
  } catch (caught) {
    if (!(caught instanceof SignInFailure)) throw caught;
    gateway.log.warn({ requestId, route, detail: caught.detail }, "the provider's logout could not be found");
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

/**
 * `POST /sign-out/back-channel`: the provider ends sessions (OpenID Connect Back-Channel Logout 1.0 section 2.5). Answered when no
 * gateway accepts them any more. Invalid requests count as failed authentications of their address; valid ones never do, because all
 * come from the provider's address.
 */
async function endByProvider(exchange: Exchange): Promise<void> {
  const { gateway, request, response, requestId, route } = exchange;
  const { signIn, backends } = gateway;
  if (signIn === null) throw notFound();
  try {
    const logout = await signIn.verifyLogout(await readLogoutToken(exchange));
    await backends.endedSessions.endByLogout(logout);
    send(response, 200, {}, '');
  } catch (caught) {
    const error = toAppError(caught);
    if (error.reason !== 'invalid_request') throw error;
    const failure = { address: request.ip ?? '', credential: undefined, issued: false };
    const refusal = await countFailure(gateway.limits, failure);
    if (refusal !== null) throw rateLimited(refusal);
    const reason = toReason(error);
    gateway.log.warn(
      { requestId, route, reason: withoutSent(error, reason) },
      'a logout of the provider was refused',
    );
    const status = error instanceof HttpError ? error.status : 400;
    sendJson(response, status, { error: 'invalid_request', error_description: reason });
  }
}

async function readLogoutToken({ gateway, request }: Exchange): Promise<string> {
  const { type, text } = await readBody(request, gateway.config.MAX_BODY_BYTES);
  if (type !== FORM_TYPE) throw unsupportedMediaType(FORM_TYPE);
  const token = parseFormParameters(text).get('logout_token');
  if (token === undefined || token === '') throw invalidRequest('logout_token', 'is required');
  return token;
}

const MAX_REASON_LENGTH = 200;

/** Names what is wrong. Cut, because jose names unknown header parameters, which are the sender's own text. */
function toReason({ message, violations }: AppError): string {
  const [violation] = violations;
  const reason = violation === undefined ? message : `${violation.parameter}: ${violation.message}`;
  return reason.slice(0, MAX_REASON_LENGTH);
}

/** The reason as it is logged: names of parameters and quoted words are the sender's own text, which can be a token. */
function withoutSent({ violations: [violation] }: AppError, reason: string): string {
  const isKnown = violation === undefined || violation.parameter === 'logout_token';
  return isKnown ? reason.replaceAll(/"[^"]*"?/g, '"…"') : 'another parameter is wrong';
}
