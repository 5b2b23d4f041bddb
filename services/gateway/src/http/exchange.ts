import type { IncomingMessage } from 'node:http';
import type { CallOptions } from '@connectrpc/connect';
import { unauthorized } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { SESSION_METADATA } from '@phds/service-kit/rpc/context';
import type { Request, Response } from 'express';
import { findAccessToken } from './bearer.ts';
import type { SignedIn } from './session.ts';

/** One request and its response on the surfaces outside the data API. */
export interface Exchange {
  readonly request: Request;
  readonly response: Response;
  readonly requestId: string;
  /** `performance.now()` when the request arrived. */
  readonly startedAt: number;
  /** Pattern of the matched route, for the log. The path itself may contain a secret id. */
  route: string;
  /** The app that the path names, whoever asks. */
  appInPath: string | undefined;
  /** The client id that the request presented, not yet verified. */
  presentedClientId: string | undefined;
  /** The app that has authenticated itself. */
  clientId: string | undefined;
  /** Set on routes that require a session. */
  session: SignedIn | undefined;
}

const exchanges = new WeakMap<IncomingMessage, Exchange>();

/** Returns the exchange of a request, creating it on first use. */
export function exchangeOf(request: Request, response: Response): Exchange {
  const known = exchanges.get(request);
  if (known !== undefined) return known;
  const exchange: Exchange = {
    request,
    response,
    requestId: newId('req', 96),
    startedAt: performance.now(),
    route: '',
    appInPath: undefined,
    presentedClientId: undefined,
    clientId: undefined,
    session: undefined,
  };
  exchanges.set(request, exchange);
  return exchange;
}

/** The presented credential, in the form that `FailedAuthentication` needs. */
export function credentialOf({ presentedClientId, request }: Exchange): string | undefined {
  return presentedClientId ?? findAccessToken(request.headersDistinct['authorization'] ?? []) ?? undefined;
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
