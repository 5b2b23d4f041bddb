import type { HandlerContext } from '@connectrpc/connect';
import { sessionOf } from '@phds/service-kit/rpc-context';
import type { SessionVerifier } from '@phds/service-kit/session';

/** The user of the session that came along, verified here: no gateway can invent users. Throws `unauthorized`. */
export type UserOf = (context: HandlerContext) => Promise<string>;

export function createUserOf(verifySession: SessionVerifier): UserOf {
  return async (context) => (await verifySession(sessionOf(context))).userId;
}
