import { useQuery } from '@tanstack/react-query';
import { type Data, get } from './client.ts';
import type { Preview } from './resources.ts';

/** The person's own data as an app with this scope, which may look back to the first day, would receive it. */
export function usePreview(scope: string, firstDay: string | null) {
  const query = { scope, dataFrom: firstDay ?? undefined };
  return useQuery({
    queryKey: ['preview', query],
    queryFn: async () => (await get<Data<Preview>>('/partner/consent/preview', query)).data,
  });
}
