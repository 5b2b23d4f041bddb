import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem.ts';

const MAX_RETRIES = 2;

/**
 * Caches responses for a short time and retries only when the service was unavailable. Changes that cannot be sent fail
 * immediately: queueing them until the network returns could send a decision when nobody expects it any more.
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

/** Whether a retry may succeed soon. Requests that timed out are not repeated automatically. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof Problem) || error.code === 'TIMED_OUT') return false;
  return error.status === 0 || error.status >= 500;
}
