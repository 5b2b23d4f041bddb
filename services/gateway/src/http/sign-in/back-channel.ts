import { AppError, invalidRequest, notFound, toAppError } from '@phds/service-kit/errors';
import { FORM_TYPE, readBody } from '../body.ts';
import type { Exchange } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { HttpError, unsupportedMediaType } from '../http-error.ts';
import { parseFormParameters } from '../oauth/parameters.ts';
import { send, sendJson } from '../respond.ts';

/**
 * `POST /sign-out/back-channel`: the provider ends sessions (OpenID Connect Back-Channel Logout 1.0 section 2.5). Answered when no
 * gateway accepts them any more. Invalid requests count as failed authentications of their address; valid ones never do, because all
 * come from the provider's address.
 */
export async function endByProvider(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { request, response, requestId, route } = exchange;
  const { signIn, backends } = gateway;
  if (signIn === null) throw notFound();
  try {
    const logout = await signIn.verifyLogout(await readLogoutToken(gateway, exchange));
    await backends.endedSessions.endByLogout(logout);
    send(response, 200, {}, '');
  } catch (caught) {
    const error = toAppError(caught);
    if (error.reason !== 'invalid_request') throw error;
    const failure = { address: request.ip ?? '', credential: undefined, issued: false };
    const retryAfterSeconds = await gateway.failures.count(failure);
    if (retryAfterSeconds !== null) throw new AppError('rate_limited', '', { retryAfterSeconds });
    const reason = toReason(error);
    gateway.log.warn({ requestId, route, reason }, 'a logout of the provider was refused');
    const status = error instanceof HttpError ? error.status : 400;
    sendJson(response, status, { error: 'invalid_request', error_description: reason });
  }
}

async function readLogoutToken({ config }: Gateway, { request }: Exchange): Promise<string> {
  const { type, text } = await readBody(request, config.MAX_BODY_BYTES);
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
