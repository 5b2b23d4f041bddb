import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem.ts';

const MAX_RETRIES = 2;

/**
 * Remembers answers for a moment; asks again only when the service was away. What cannot be sent fails at once: a decision that
 * waited for the network would be sent when nobody expects it any more.
 */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        networkMode: 'always',
        refetchOnReconnect: true,
        staleTime: 10_000,
        retry: (failures, error) => failures < MAX_RETRIES && isPassing(error),
      },
      mutations: { networkMode: 'always' },
    },
  });
}

/** Whether the next try may succeed soon. One that took all its time is not repeated unasked. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Problem) || error.code === 'TIMED_OUT') return false;
  return error.status === 0 || error.status >= 500;
}
