import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { useChange } from './change.ts';
import { type Data, get, send } from './client.ts';
import { Problem } from './problem.ts';
import type { Session } from './resources.ts';

/** The signed-in person; null if nobody is signed in. */
export function useSession(): UseQueryResult<Session | null> {
  return useQuery({ queryKey: ['session'], queryFn: findSession, staleTime: 60_000 });
}

async function findSession(): Promise<Session | null> {
  try {
    return (await get<Data<Session>>('/partner/session')).data;
  } catch (error) {
    if (error instanceof Problem && error.status === 401) return null;
    throw error;
  }
}

/** Ends the session in this browser. */
export function useSignOut() {
  return useChange({
    queryKey: ['session'],
    read: findSession,
    send: (_: undefined) => send<unknown>('POST', '/sign-out'),
    isMade: (session) => session === null,
    affected: [['session']],
    leadsAway: true,
  });
}

/** URL of the sign-in page, which returns to this path (default: the current page). */
export function signInUrl(path = location.pathname + location.search): string {
  return `/sign-in?return_to=${encodeURIComponent(path)}`;
}
