import type { HandlerContext } from '@connectrpc/connect';
import type { Clock } from '@phds/service-kit/clock';
import { sessionOf } from '@phds/service-kit/rpc-context';
import { createSessionVerifier, type SessionVerifier } from '@phds/service-kit/session';

/** The user of the session that came along, verified here: no gateway can invent users. Throws `unauthorized`. */
export type UserOf = (context: HandlerContext) => Promise<string>;

export function createUserOf(verifySession: SessionVerifier): UserOf {
  return async (context) => (await verifySession(sessionOf(context))).userId;
}

/** Sessions as the settings describe them. */
export function openSessions(
  settings: {
    readonly SESSION_ISSUER: string;
    readonly SESSION_AUDIENCE: string;
    readonly SESSION_JWKS: Parameters<typeof createSessionVerifier>[0]['jwks'];
  },
  clock: Clock,
): UserOf {
  const { SESSION_ISSUER: issuer, SESSION_AUDIENCE: audience, SESSION_JWKS: jwks } = settings;
  return createUserOf(createSessionVerifier({ issuer, audience, jwks, clock }));
}
