import type { IncomingMessage, ServerResponse } from 'node:http';
import type { CallOptions } from '@connectrpc/connect';
import { notFound, unauthorized } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import type { SecurityEvent } from '@phds/service-kit/telemetry/log';
import type { Request, Response } from 'express';
import { toPlainAddress } from '../limits/addresses.ts';
import { type Allowance, type LimitName, limitFields } from '../limits/limits.ts';
import { findAccessToken, isSafeMethod, type SignedIn } from './credentials.ts';
import type { Gateway } from './gateway.ts';
import type { Headers } from './respond.ts';

/** One request, its response and what is known about them so far. */
export interface Exchange {
  readonly gateway: Gateway;
  readonly request: Request;
  readonly response: Response;
  readonly requestId: string;
  /** `performance.now()` when the request arrived. */
  readonly startedAt: number;
  /** The values of `Authorization`. */
  readonly authorization: readonly string[];
  /** Pattern of the matched route, for the log. The path itself may contain a secret id. */
  route: string;
  /** What the security log calls a request of this route, whatever its outcome. */
  securityEvent: SecurityEvent | undefined;
  /** The app that the path names, whoever asks. */
  appInPath: string | undefined;
  /** The client id that the request presented, not yet verified. */
  presentedClientId: string | undefined;
  /** The app that has authenticated itself. */
  clientId: string | undefined;
  /** Whether the request only named an app without a secret, which anybody can. */
  isPublicCall: boolean;
  /** Thumbprint of the key that the request proved to hold, which is that of its token; empty for none. */
  provenKey: string;
  /** Set on routes that require a session. */
  session: SignedIn | undefined;
  /** Throws the error that the request asks for. In a sandbox deployment only. */
  force: (() => void) | undefined;
  /** Header fields of every answer except the uniform 401 and the 429 in its place. */
  headers: Headers;
}

export function createExchange(
  gateway: Gateway,
  request: Request,
  response: Response,
  authorization: readonly string[],
): Exchange {
  return {
    gateway,
    request,
    response,
    requestId: newId('req', 96),
    startedAt: performance.now(),
    authorization,
    route: '',
    securityEvent: undefined,
    appInPath: undefined,
    presentedClientId: undefined,
    clientId: undefined,
    isPublicCall: false,
    provenKey: '',
    session: undefined,
    force: undefined,
    headers: {},
  };
}

const exchanges = new WeakMap<IncomingMessage, Exchange>();

/** Starts the exchange of a request that Express routes. */
export function startExchange(gateway: Gateway, request: Request, response: Response): Exchange {
  const exchange = createExchange(gateway, request, response, request.headersDistinct['authorization'] ?? []);
  exchanges.set(request, exchange);
  return exchange;
}

/** The exchange of a request that Express routes. */
export function exchangeOf(request: Request): Exchange {
  const exchange = exchanges.get(request);
  if (exchange === undefined) throw new Error('a request without an exchange');
  return exchange;
}

/** The client's address according to the trusted proxies. */
export function addressOf({ request }: Exchange): string {
  return toPlainAddress(request.ip ?? request.socket.remoteAddress ?? '');
}

/** The presented credential, in the form that `FailedAuthentication` needs. */
export function credentialOf({ presentedClientId, authorization }: Exchange): string | undefined {
  return presentedClientId ?? findAccessToken(authorization) ?? undefined;
}

/** A named path parameter; empty when the route has none. Throws `not_found` for values that cannot be an id. */
export function pathParameter({ request }: Exchange, name: string): string {
  const value = request.params[name] ?? '';
  if (typeof value !== 'string' || value.includes('\0')) throw notFound();
  return value;
}

/** Id of the signed-in person. Throws `unauthorized` without a session. */
export function userOf(exchange: Exchange): string {
  return requireSession(exchange).userId;
}

/** Call options that forward the person's session to the called service. Throws `unauthorized` without a session. */
export function onBehalf(exchange: Exchange): CallOptions {
  return { headers: { [SESSION_METADATA]: requireSession(exchange).jwt } };
}

/** The session of the signed-in person. Throws `unauthorized` without a session. */
export function requireSession({ session }: Exchange): SignedIn {
  if (session === undefined) throw unauthorized('no session');
  return session;
}

/**
 * Counts a request, or what a counted one costs beyond one point, and adds the fields of the limit to the response. Throws `rate_limited`
 * beyond the limit.
 */
export async function takeFromLimit(
  { gateway, response }: Exchange,
  name: LimitName,
  key: string,
  further?: number,
): Promise<void> {
  const allowance = await gateway.limits.take(name, key, further);
  showAllowance(response, allowance);
  gateway.limits.require(allowance);
}

/** Adds the fields of a limit to the response. Not used for the uniform 401. */
export function showAllowance(response: ServerResponse, allowance: Allowance): void {
  response.setHeaders(new Map(Object.entries(limitFields(allowance))));
}

/** The same for a request of a session. Reads and changes have separate limits. */
export function takeFromPerson(exchange: Exchange): Promise<void> {
  const name = isSafeMethod(exchange.request.method) ? 'user' : 'user-changes';
  return takeFromLimit(exchange, name, userOf(exchange));
}

/** The same for what a request of a session costs besides. */
export function takeCost(exchange: Exchange, cost: number): Promise<void> {
  return takeFromLimit(exchange, 'user-costly', userOf(exchange), cost);
}

/** Removes the fields of the limit, for answers that must be identical with and without them. */
export function withdrawAllowance(response: ServerResponse): void {
  response.removeHeader('RateLimit-Policy');
  response.removeHeader('RateLimit');
}
