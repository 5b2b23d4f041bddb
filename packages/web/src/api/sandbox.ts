import { useMutation } from '@tanstack/react-query';
import { api, dataOf } from './client.ts';
import type { Triggered } from './resources.ts';

/** Lets something happen to a connection, as its person or time would. */
export function useTrigger(clientId: string) {
  return useMutation({
    mutationFn: (body: Pick<Triggered, 'trigger' | 'grantId'>) =>
      dataOf(
        api.POST('/developer/apps/{clientId}/sandbox/triggers', { params: { path: { clientId } }, body }),
      ),
  });
}
