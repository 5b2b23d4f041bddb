import type { ServerResponse } from 'node:http';
import type { ProblemCode } from '@phds/catalog/problems';
import { AppError } from '@phds/service-kit/errors';
import { toCauseText } from '@phds/service-kit/telemetry/security-log';
import { DeadToken } from '../cache/authenticator.ts';
import type { Gateway } from './gateway.ts';
import { meaningOf } from './http-error.ts';
import { sendOauthError, toOauthMeaning } from './oauth-error.ts';
import { sendProblem } from './problem.ts';
import { type Headers, transportHeaders } from './respond.ts';
import { isForced } from './sandbox/forced-errors.ts';
import type { Surface } from './surface.ts';
import { sendUniform401 } from './uniform-401.ts';

const CLIENT_ID = /^app_(sandbox_)?[0-9A-Za-z]{1,40}$/;

/** The parts of a request that `refuse` needs. */
export interface RefusedRequest {
  readonly surface: Surface;
  readonly requestId: string;
  readonly startedAt: number;
  readonly address: string;
  readonly route: string;
  /** The presented credential, if any. */
  readonly credential: string | undefined;
  /** The app, if its credential had already been verified when the request was refused. */
  readonly clientId?: string | null;
  /** Header fields for every response except the uniform 401 and the 429 in its place. */
  readonly headers?: Headers;
}

/**
 * Answers an error in the format of its surface and logs it. Only our own failures are logged as warnings or errors. Returns the code of
 * the answer, null when the response had begun already.
 */
export async function refuse(
  gateway: Gateway,
  response: ServerResponse,
  error: AppError,
  request: RefusedRequest,
): Promise<ProblemCode | null> {
  logRefusal(gateway, error, request);
  if (response.headersSent) {
    response.destroy();
    return null;
  }
  const { surface } = request;
  const failed = error.reason === 'unauthorized' || (surface === 'oauth' && error.reason === 'token_expired');
  if (failed) {
    const how = { issued: isIssued(error, request), forced: isForced(error) };
    return refuseAuthentication(gateway, response, { ...request, error }, how);
  }
  if (surface === 'oauth') sendOauthError(response, error, request.requestId);
  else sendProblem(response, error, request.requestId, request.headers);
  return (surface === 'oauth' ? toOauthMeaning(error) : meaningOf(error)).code;
}

function isIssued(error: AppError, { clientId = null }: RefusedRequest): boolean {
  return clientId !== null || error instanceof DeadToken || error.reason === 'token_expired';
}

async function refuseAuthentication(
  gateway: Gateway,
  response: ServerResponse,
  request: RefusedRequest & { readonly error: AppError },
  { issued, forced }: { readonly issued: boolean; readonly forced: boolean },
): Promise<ProblemCode> {
  const { surface, requestId, startedAt, address, credential } = request;
  const retryAfterSeconds = forced ? null : await gateway.failures.count({ address, credential, issued });
  if (!forced) noteRefused(gateway, request, retryAfterSeconds === null ? 401 : 429);
  const early = gateway.config.AUTH_FAILURE_FLOOR_MS - (performance.now() - startedAt);
  if (early > 0) await gateway.pause(early);
  if (retryAfterSeconds === null) {
    sendUniform401(response, surface, transportHeaders(gateway.config));
    return 'UNAUTHORIZED';
  }
  const limited = new AppError('rate_limited', '', { retryAfterSeconds });
  const { LIMIT_AUTH_FAILURES_PER_MINUTE: quota } = gateway.config;
  const headers = {
    'RateLimit-Policy': `"failed-authentications";q=${quota};w=60`,
    RateLimit: `"failed-authentications";r=0;t=${retryAfterSeconds}`,
  };
  if (surface === 'oauth') sendOauthError(response, limited, requestId, headers);
  else sendProblem(response, limited, requestId, headers);
  return 'RATE_LIMITED';
}

function noteRefused(
  { security }: Gateway,
  request: RefusedRequest & { readonly error: AppError },
  outcome: number,
) {
  const { requestId, route, address, clientId, credential, error } = request;
  const client = clientId ?? findClientId(credential);
  const cause = toCauseText(error.cause, error.reason);
  security('authentication-refused', { requestId, route, outcome, address, client, cause });
}

/** The presented client id. Everything else may be a secret in its place. */
export function findClientId(credential: string | undefined): string | null {
  return credential !== undefined && CLIENT_ID.test(credential) ? credential : null;
}

function logRefusal({ log }: Gateway, error: AppError, { requestId, route }: RefusedRequest): void {
  const { status } = meaningOf(error);
  if (isForced(error))
    log.debug({ requestId, route, reason: error.reason }, 'error answered as a sandbox app asked');
  else if (status === 500) log.error({ requestId, route, err: error }, 'request failed');
  else if (status === 503) log.warn({ requestId, route, err: error }, 'request failed temporarily');
  else log.debug({ requestId, route, reason: error.reason }, 'request refused');
}
