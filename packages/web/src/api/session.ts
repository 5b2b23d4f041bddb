import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type Data, get } from './client.ts';
import { Problem } from './problem.ts';
import type { Session } from './resources.ts';

/** Who is signed in; null is nobody. */
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

/** Where to sign in, coming back to the page that is open. */
export function signInUrl(): string {
  return `/sign-in?return_to=${encodeURIComponent(location.pathname + location.search)}`;
}
