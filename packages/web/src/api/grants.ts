import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Data, get, getAll, type Page, send } from './client.ts';
import type { Grant } from './resources.ts';

const GRANTS = '/partner/consent/grants';
const pathOf = (id: string) => `${GRANTS}/${encodeURIComponent(id)}`;

/** Consent grants, newest first; an absent status is all. */
export function useGrants(status: Grant['status'] | undefined, page = 1, pageSize = 20) {
  return useQuery({
    queryKey: ['grants', status, page, pageSize],
    queryFn: () => get<Page<Grant>>(GRANTS, { status, page, pageSize }),
    placeholderData: keepPreviousData,
  });
}

/** Every living grant, at most one an app. */
export function useLivingGrants() {
  return useQuery({
    queryKey: ['grants', 'living'],
    queryFn: () => getAll<Grant>(GRANTS, { status: 'active' }),
    refetchOnWindowFocus: 'always',
  });
}

export function useGrant(id: string) {
  return useQuery({
    queryKey: ['grants', id],
    queryFn: async () => (await get<Data<Grant>>(pathOf(id))).data,
  });
}

/** What may become less: scopes withdrawn, an earlier end, a later first day. */
export interface Narrowing {
  readonly scopes?: readonly string[];
  readonly expiresAt?: string;
  readonly dataFrom?: string;
}

/** Narrows a grant; effective when it answers. */
export function useNarrowing(id: string) {
  return useGrantChange((change: Narrowing) => send<Data<Grant>>('PATCH', pathOf(id), change));
}

/** Ends a grant; no request that starts after the answer gets data. */
export function useRevocation(id: string) {
  return useGrantChange(() => send('DELETE', pathOf(id)));
}

/** Ends every grant at once. */
export function useRevocationOfAll() {
  return useGrantChange(() => send<Data<{ revoked: number }>>('POST', `${GRANTS}/revoke-all`));
}

function useGrantChange<Change, Answer>(change: (change: Change) => Promise<Answer>) {
  const client = useQueryClient();
  // The accesses too, so that what the page says of them belongs together.
  const lookAgain = () =>
    Promise.all(['grants', 'accesses'].map((of) => client.invalidateQueries({ queryKey: [of] })));
  return useMutation({
    mutationFn: change,
    onSuccess: lookAgain,
    // Beside: the refusal itself is said at once.
    onError: () => void lookAgain(),
  });
}

/** The signed receipt of a consent, as a file of its own. */
export async function downloadReceipt(id: string): Promise<Blob> {
  const { data } = await get<Data<unknown>>(`${pathOf(id)}/receipt`);
  return new Blob([JSON.stringify(data, null, 2)], { type: 'application/json' });
}
