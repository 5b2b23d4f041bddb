import type { SecurityEvent } from '@phds/service-kit/telemetry/security-log';
import type { Exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { findClientId } from './refusal.ts';

/** The routes whose requests are in the security log, whatever their outcome. */
export const SECURITY_EVENTS: Readonly<Record<string, SecurityEvent>> = {
  'GET /sign-in/callback': 'sign-in',
  'POST /sign-out': 'sign-out',
  'POST /sign-out/back-channel': 'sign-out',
  'POST /developer/apps': 'registration',
  'POST /developer/apps/:clientId/rotate-secret': 'rotation',
  'POST /developer/apps/:clientId/webhook/rotate-secret': 'rotation',
  'POST /developer/apps/:clientId/status': 'revocation',
  'POST /partner/consent/pending/:id/approve': 'approval',
  'PATCH /partner/consent/grants/:id': 'revocation',
  'DELETE /partner/consent/grants/:id': 'revocation',
  'POST /partner/consent/grants/revoke-all': 'revocation',
  'POST /oauth/revoke': 'revocation',
  'DELETE /oauth/grants/:id': 'revocation',
};

/** Writes an answered request to the security log if its route is in it. Refused authentications of all routes have lines of their own. */
export function noteSecurityEvent({ security }: Gateway, exchange: Exchange): void {
  const { request, response, requestId, route, presentedClientId } = exchange;
  const event = SECURITY_EVENTS[`${request.method} ${route}`];
  const outcome = response.statusCode;
  if (event === undefined || outcome === 401) return;
  const client = exchange.clientId ?? findClientId(exchange.appInPath ?? presentedClientId);
  const cause = outcome < 400 ? {} : { cause: `answered with ${outcome}` };
  security(event, { requestId, route, outcome, address: request.ip ?? '', client, ...cause });
}
