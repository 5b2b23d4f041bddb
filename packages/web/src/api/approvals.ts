import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { currentLanguage } from '../texts/language.ts';
import { useChange } from './change.ts';
import { answerOf, api, dataOf, ofId, serviceNow } from './client.ts';
import { Problem } from './problem.ts';
import type { ApprovedTerms, PendingApproval, SentTerms } from './resources.ts';

const PENDING = '/partner/consent/pending';
const REQUEST = `${PENDING}/{id}` as const;

/** The request of an approval link. The first signed-in person who opens it claims it. */
export function usePendingApproval(id: string) {
  return useQuery({
    queryKey: ['pending', id],
    queryFn: () => fetchApproval(id),
    // Sharing may have changed in another window.
    refetchOnWindowFocus: 'always',
  });
}

/** Requests that this page gives back or has given back. Reading one would claim it again. */
const givenBack = new Set<string>();

async function fetchApproval(id: string): Promise<PendingApproval> {
  if (givenBack.has(id)) {
    return new Promise(() => {
      // Never settles: the page is being left, and stays as it is until then.
    });
  }
  return dataOf(api.GET(REQUEST, ofId(id)));
}

export type WaitingApprovals = ReturnType<typeof useWaitingApprovals>;

/** Requests that are waiting for this person's decision. */
export function useWaitingApprovals() {
  return useQuery({
    queryKey: ['pending'],
    queryFn: () => answerOf(api.GET(PENDING, { params: { query: { status: 'pending' } } })),
    // When the first of them expires.
    refetchInterval: ({ state: { data } }) =>
      data !== undefined &&
      data.data.length > 0 &&
      Math.max(1_000, Math.min(...data.data.map(({ expiresAt }) => Date.parse(expiresAt))) - serviceNow()),
  });
}

/** A decision as it was made on the screen. */
interface MadeDecision {
  /** Null to deny. */
  readonly terms: ApprovedTerms | null;
  /** The revision of the connection that the screen showed. */
  readonly revision: string | null;
}

/** Sends a decision. Repeating it returns the same response until the app has used the code. */
export function useDecision(id: string) {
  return useChange({
    queryKey: ['pending', id],
    read: () => fetchApproval(id),
    send: (decision: MadeDecision) => sendDecision(id, decision.terms, decision.revision),
    isMade: ({ status }, { terms }) => status === (terms === null ? 'denied' : 'approved'),
    affected: [['pending', id], ['grants']],
    leadsAway: true,
  });
}

/** Repeats the decision. Returns the redirect to the app with its code. Throws Problem. */
export function useRepeatedDecision(id: string) {
  return useMutation({ mutationFn: (terms: ApprovedTerms | null) => sendDecision(id, terms) });
}

/** Returns the redirect to the app; null for a denial if the app has removed its redirect URI since. */
function sendDecision(
  id: string,
  terms: ApprovedTerms | null,
  revision?: string | null,
): Promise<{ readonly redirectUri: string | null }> {
  if (terms === null) return dataOf(api.POST(`${REQUEST}/deny`, ofId(id)));
  const body = {
    ...terms,
    language: currentLanguage(),
    ...(revision === undefined ? {} : { revision }),
  } as SentTerms;
  return dataOf(api.POST(`${REQUEST}/approve`, { ...ofId(id), body }));
}

/** Gives the person more time to decide. Throws Problem. */
export function useExtension(id: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: () => dataOf(api.POST(`${REQUEST}/extend`, ofId(id))),
    onSuccess: ({ expiresAt }) => {
      client.setQueryData<PendingApproval>(['pending', id], (known) => known && { ...known, expiresAt });
    },
    // The request may be over or decided.
    onError: () => void client.invalidateQueries({ queryKey: ['pending', id] }),
  });
}

/**
 * Gives an undecided request back, so that another account can open it. From then on this page does not read it; after a failure it
 * does again. Throws Problem.
 */
export function useRelease(id: string, onReleased: () => void) {
  const client = useQueryClient();
  const queryKey = ['pending', id];
  return useMutation({
    mutationFn: () => {
      givenBack.add(id);
      return release(id);
    },
    onSuccess: onReleased,
    onError: async () => {
      givenBack.delete(id);
      // A read that was held back in the meantime.
      await client.cancelQueries({ queryKey });
      void client.invalidateQueries({ queryKey });
    },
  });
}

async function release(id: string): Promise<void> {
  try {
    await answerOf(api.POST(`${REQUEST}/release`, ofId(id)));
  } catch (error) {
    if (!isNotHeld(error)) throw error;
  }
}

/** Whether there is nothing to give back, because the request is decided, over or not this person's. The other account sees that. */
function isNotHeld(error: unknown): boolean {
  if (!(error instanceof Problem)) return false;
  return error.status === 404 || error.code === 'ALREADY_DECIDED' || error.code === 'PENDING_EXPIRED';
}
