import { useQuery } from '@tanstack/react-query';
import { type Data, get } from './client.ts';
import type { Preview } from './resources.ts';

/** The person's own data as an app with this scope would receive it. */
export function usePreview(scope: string) {
  return useQuery({
    queryKey: ['preview', scope],
    queryFn: async () => (await get<Data<Preview>>('/partner/consent/preview', { scope })).data,
  });
}
