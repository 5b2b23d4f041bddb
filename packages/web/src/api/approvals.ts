import { useMutation, useQuery } from '@tanstack/react-query';
import { currentLanguage } from '../texts/language.ts';
import { useChange } from './change.ts';
import { type Data, get, type Page, send } from './client.ts';
import type { ApprovedTerms, Decision, PendingApproval } from './resources.ts';

const pathOf = (id: string) => `/partner/consent/pending/${encodeURIComponent(id)}`;

/** The request of an approval link. The first signed-in person who opens it claims it. */
export function usePendingApproval(id: string) {
  return useQuery({
    queryKey: ['pending', id],
    queryFn: () => fetchApproval(id),
    // Sharing may have been reduced in another window.
    refetchOnWindowFocus: 'always',
  });
}

async function fetchApproval(id: string): Promise<PendingApproval> {
  return (await get<Data<PendingApproval>>(pathOf(id))).data;
}

/** Requests that are waiting for this person's decision. */
export function useWaitingApprovals() {
  return useQuery({
    queryKey: ['pending'],
    queryFn: () => get<Page<PendingApproval>>('/partner/consent/pending', { status: 'pending' }),
  });
}

/**
 * Sends a decision: terms to approve, null to deny. Repeating the same decision returns the same response until the app has used
 * the code.
 */
export function useDecision(id: string) {
  return useChange({
    queryKey: ['pending', id],
    read: () => fetchApproval(id),
    send: (terms: ApprovedTerms | null) => sendDecision(id, terms),
    isMade: ({ status }, terms) => status === (terms === null ? 'denied' : 'approved'),
    affected: [['pending', id], ['grants']],
    leadsAway: true,
  });
}

/** Repeats the decision. Returns the redirect to the app with its code. Throws Problem. */
export function useRepeatedDecision(id: string) {
  return useMutation({ mutationFn: (terms: ApprovedTerms | null) => sendDecision(id, terms) });
}

async function sendDecision(id: string, terms: ApprovedTerms | null): Promise<Decision> {
  if (terms === null) return (await send<Data<Decision>>('POST', `${pathOf(id)}/deny`)).data;
  return (
    await send<Data<Decision>>('POST', `${pathOf(id)}/approve`, { ...terms, language: currentLanguage() })
  ).data;
}
