import { QueryClient } from '@tanstack/react-query';
import { Problem } from './problem.ts';

const MAX_RETRIES = 2;

/** Remembers answers for a moment; asks again only when the service was away. */
export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: { staleTime: 10_000, retry: (failures, error) => failures < MAX_RETRIES && isPassing(error) },
    },
  });
}

function isPassing(error: unknown): boolean {
  return error instanceof Problem && (error.status === 0 || error.status >= 500);
}
