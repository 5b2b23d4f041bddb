import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useChange } from './change.ts';
import { api, dataOf } from './client.ts';
import { Problem } from './problem.ts';
import type { EndedSession, Session } from './resources.ts';
import { isSignInDemanded, noteNoSession, noteSession, noteSignOut } from './sign-in.ts';

/**
 * The person whose page this is; null if nobody was signed in when it was opened. When the session ends while the page is open, the
 * person stays, with the error, so that the page keeps what they entered.
 */
export function useSession(): UseQueryResult<Session | null> {
  return useQuery({
    queryKey: ['session'],
    queryFn: async () => {
      const session = await findSession();
      if (session === null) noteNoSession();
      else noteSession(session.userId);
      return session;
    },
    staleTime: 60_000,
    // They may come back from signing in.
    refetchOnWindowFocus: () => (isSignInDemanded() ? 'always' : true),
  });
}

/** The signed-in person according to the service; null if nobody is signed in. */
async function findSession(): Promise<Session | null> {
  try {
    return await dataOf(api.GET('/partner/session'));
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return null;
    throw error;
  }
}

/** Ends the session. */
export function useSignOut() {
  return useChange({
    queryKey: ['is-signed-out'],
    read: async () => (await findSession()) === null,
    send: (_: undefined) => dataOf(api.POST('/sign-out')),
    isMade: (isSignedOut) => isSignedOut,
    affected: [],
    leadsAway: true,
  });
}

/** The start page after a sign-out that ended the session in this browser, and maybe not elsewhere. */
const SIGNED_OUT_HERE = '/?signed-out=here';

/** Where the tab keeps that its person signed out. The identity provider's page may come between. */
const SIGNED_OUT = 'signed-out';

/**
 * Leaves the page after signing out: to the identity provider's page, where the person signs out too, if there is one. `answer` is
 * null if it was lost or the service could not store the end of the session.
 */
export function leaveSignedOut(answer: EndedSession | null): void {
  noteSignOut();
  try {
    sessionStorage.setItem(SIGNED_OUT, 'yes');
  } catch {
    // Storage is blocked. The start page does not mention the sign-out.
  }
  location.assign(answer === null ? SIGNED_OUT_HERE : (answer.continueTo ?? '/'));
}

/** Whether the person has signed out in this tab. */
export function hasSignedOut(): boolean {
  try {
    return sessionStorage.getItem(SIGNED_OUT) !== null;
  } catch {
    return false;
  }
}

/** Whether this page was opened by a sign-out that may not have ended the session elsewhere. */
export function isSignedOutHereOnly(): boolean {
  return location.pathname + location.search === SIGNED_OUT_HERE;
}
