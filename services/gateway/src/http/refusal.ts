import type { ServerResponse } from 'node:http';
import { FHIR_PREFIX } from '@phds/catalog/fhir/resource-types';
import type { ProblemCode } from '@phds/catalog/problems';
import type { AppError } from '@phds/service-kit/errors';
import { sampledLogOf, toCauseText } from '@phds/service-kit/telemetry/log';
import { RefusedToken } from '../cache/access-tokens.ts';
import { countFailure, limitFields, rateLimited } from '../limits/limits.ts';
import { addressOf, credentialOf, type Exchange, findClientId } from './exchange.ts';
import { sendOutcome } from './fhir/outcome.ts';
import { isForced } from './forced-errors.ts';
import {
  BEARER_CHALLENGE,
  DPOP_CHALLENGE,
  meaningOf,
  type Surface,
  sendError,
  surfaceOf,
  toChallenge,
  toOauthMeaning,
} from './http-error.ts';
import { isUnder } from './query.ts';
import type { Headers } from './respond.ts';

/**
 * Answers an error in the format of its surface and logs it. Only our own failures are logged as warnings or errors. Returns the code of
 * the answer, null when the response had begun already.
 */
export async function refuse(exchange: Exchange, error: AppError): Promise<ProblemCode | null> {
  const { request, response, headers, provenKey } = exchange;
  logRefusal(exchange, error);
  if (response.headersSent) {
    response.destroy();
    return null;
  }
  const surface = surfaceOf(request.originalUrl ?? request.url);
  const failed = error.reason === 'unauthorized' || (surface === 'oauth' && error.reason === 'token_expired');
  if (failed) return refuseAuthentication(exchange, surface, error);
  const challenge = provenKey === '' ? {} : toChallenge(error, DPOP_CHALLENGE);
  sendRefusal(exchange, surface, error, { ...headers, ...challenge });
  return (surface === 'oauth' ? toOauthMeaning(error) : meaningOf(error)).code;
}

function sendRefusal(exchange: Exchange, surface: Surface, error: AppError, extra: Headers): void {
  const { gateway, request, response, requestId } = exchange;
  if (isUnder(FHIR_PREFIX, request.originalUrl ?? request.url)) {
    sendOutcome(response, error, { publicUrl: gateway.config.PUBLIC_URL, requestId }, extra);
  } else sendError(response, surface, error, requestId, extra);
}

async function refuseAuthentication(
  exchange: Exchange,
  surface: Surface,
  error: AppError,
): Promise<ProblemCode> {
  const { gateway, response, startedAt } = exchange;
  const { limits, config, pause } = gateway;
  // Under /oauth an app authenticates itself again with each call, so the credential of the call decides.
  const clientId = surface === 'oauth' ? undefined : exchange.clientId;
  const issued = clientId !== undefined || error instanceof RefusedToken || error.reason === 'token_expired';
  const failure = { address: addressOf(exchange), credential: credentialOf(exchange), issued };
  const forced = isForced(error);
  const refusal = forced ? null : await countFailure(limits, failure);
  if (!forced) noteRefused(exchange, error, clientId, refusal === null ? 401 : 429);
  const early = config.AUTH_FAILURE_FLOOR_MS - (performance.now() - startedAt);
  if (early > 0) await pause(early);
  if (refusal === null) {
    sendUniform401(response, surface);
    return 'UNAUTHORIZED';
  }
  sendRefusal(exchange, surface, rateLimited(refusal), limitFields(refusal));
  return 'RATE_LIMITED';
}

function noteRefused(
  exchange: Exchange,
  error: AppError,
  clientId: string | undefined,
  outcome: 401 | 429,
): void {
  const { gateway, requestId, route } = exchange;
  const client = clientId ?? findClientId(credentialOf(exchange));
  const cause = toCauseText(error.cause, error.reason);
  const address = addressOf(exchange);
  gateway.security('authentication-refused', { requestId, route, outcome, address, client, cause });
}

/** Logs why a request is refused. A fault or an outage fails every request, so its lines are sampled. */
export function logRefusal({ gateway: { log }, requestId, route }: Exchange, error: AppError): void {
  const { status } = meaningOf(error);
  const { reason } = error;
  const kind = `${route} ${reason}`;
  if (isForced(error)) log.debug({ requestId, route, reason }, 'error answered as the request asked');
  else if (status === 500)
    sampledLogOf(log)('error', kind, { requestId, route, err: error }, 'request failed');
  else if (status === 503) {
    sampledLogOf(log)('warn', kind, { requestId, route, err: error }, 'request failed temporarily');
  } else log.debug({ requestId, route, reason }, 'request refused');
}

interface Frozen {
  readonly headers: readonly string[];
  readonly body: Buffer;
}

function freeze(headers: readonly string[], text: string): Frozen {
  const body = Buffer.from(text);
  return Object.freeze({
    headers: Object.freeze([...headers, 'Content-Length', String(body.length)]),
    body,
  });
}

const RESPONSES: Readonly<Record<Surface, Frozen>> = {
  oauth: freeze(
    [
      'Content-Type',
      'application/json; charset=utf-8',
      'WWW-Authenticate',
      'Basic realm="phds"',
      'Cache-Control',
      'no-store',
      'Pragma',
      'no-cache',
      'X-Content-Type-Options',
      'nosniff',
    ],
    '{"error":"invalid_client","error_description":"Client authentication failed.","code":"UNAUTHORIZED"}',
  ),
  problem: freeze(
    [
      'Content-Type',
      'application/problem+json',
      'WWW-Authenticate',
      `${BEARER_CHALLENGE}, ${DPOP_CHALLENGE}`,
      'Cache-Control',
      'no-store',
      'X-Content-Type-Options',
      'nosniff',
    ],
    '{"type":"/problems/unauthorized","title":"Unauthorized","status":401,"code":"UNAUTHORIZED","detail":"Authentication failed."}',
  ),
};

/** Fields that every answer begins with. They depend only on the configuration, and on whether a browser sent an origin. */
const KEPT = ['Strict-Transport-Security', 'Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'];

/**
 * Sends the surface's uniform authentication failure: the same bytes, header names, values and order for every cause; only `Date`
 * differs. Written directly, bypassing anything that could add fields.
 */
function sendUniform401(response: ServerResponse, surface: Surface): void {
  const kept = KEPT.filter((name) => response.hasHeader(name)).flatMap((name) => [
    name,
    String(response.getHeader(name)),
  ]);
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const { headers, body } = RESPONSES[surface];
  response.writeHead(401, [...kept, ...headers]);
  response.end(body);
}
