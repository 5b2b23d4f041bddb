import type { IncomingMessage } from 'node:http';
import type { CallOptions } from '@connectrpc/connect';
import { unauthorized } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { SESSION_METADATA } from '@phds/service-kit/metadata-keys';
import type { Request, Response } from 'express';
import { findAccessToken } from './bearer.ts';
import type { SignedIn } from './session.ts';

/** One request and its answer on the surfaces that people and developers use; the data path does without. */
export interface Exchange {
  readonly request: Request;
  readonly response: Response;
  readonly requestId: string;
  /** `performance.now()` of its arrival. */
  readonly startedAt: number;
  /** Pattern of the matched route, for the log; the path itself may hold a capability. */
  route: string;
  /** Client id that was presented, whoever presented it. */
  presentedClientId: string | undefined;
  /** Set where a session is required. */
  session: SignedIn | undefined;
}

const exchanges = new WeakMap<IncomingMessage, Exchange>();

/** The exchange that a request belongs to; made when first asked for. */
export function exchangeOf(request: Request, response: Response): Exchange {
  const known = exchanges.get(request);
  if (known !== undefined) return known;
  const exchange: Exchange = {
    request,
    response,
    requestId: newId('req', 96),
    startedAt: performance.now(),
    route: '',
    presentedClientId: undefined,
    session: undefined,
  };
  exchanges.set(request, exchange);
  return exchange;
}

/** What a request presents to authenticate with, as `FailedAuthentication` has it. */
export function credentialOf({ presentedClientId, request }: Exchange): string | undefined {
  return presentedClientId ?? findAccessToken(request.headersDistinct['authorization'] ?? []) ?? undefined;
}

/** Id of the signed-in person. Throws `unauthorized` without a session. */
export function userOf(exchange: Exchange): string {
  return requireSession(exchange).userId;
}

/** Call options that carry the person's session to the service that acts on it. Throws `unauthorized` without a session. */
export function onBehalf(exchange: Exchange): CallOptions {
  return { headers: { [SESSION_METADATA]: requireSession(exchange).jwt } };
}

function requireSession({ session }: Exchange): SignedIn {
  if (session === undefined) throw unauthorized('no session');
  return session;
}
