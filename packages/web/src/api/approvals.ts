import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Data, get, type Page, send } from './client.ts';
import type { Decision, PendingApproval } from './resources.ts';

const pathOf = (id: string) => `/partner/consent/pending/${encodeURIComponent(id)}`;

/** The request behind an approval link. The first signed-in person who opens it claims it. */
export function usePendingApproval(id: string) {
  return useQuery({
    queryKey: ['pending', id],
    queryFn: async () => (await get<Data<PendingApproval>>(pathOf(id))).data,
    // What is shared already may have become less in another window.
    refetchOnWindowFocus: 'always',
  });
}

/** Requests that wait for this person's decision. */
export function useWaitingApprovals() {
  return useQuery({
    queryKey: ['pending'],
    queryFn: () => get<Page<PendingApproval>>('/partner/consent/pending', { status: 'pending' }),
  });
}

export interface Choice {
  readonly scopes: readonly string[];
  readonly expiresInDays: number;
  /** YYYY-MM-DD; empty is everything. */
  readonly dataFrom: string;
}

/** Decides: a choice approves, null denies. Repeating the same decision after a lost answer is safe. */
export function useDecision(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (choice: Choice | null) => {
      if (choice === null) return (await send<Data<Decision>>('POST', `${pathOf(id)}/deny`)).data;
      const { dataFrom, ...rest } = choice;
      const body = dataFrom === '' ? rest : { ...rest, dataFrom };
      return (await send<Data<Decision>>('POST', `${pathOf(id)}/approve`, { ...body, language: 'en' })).data;
    },
    // Looked up beside: the refusal itself is said at once.
    onError: () => void client.invalidateQueries({ queryKey: ['pending', id] }),
  });
}
