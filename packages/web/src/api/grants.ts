import { useQuery } from '@tanstack/react-query';
import { useChange } from './change.ts';
import { answerOf, api, dataOf, getAll, ofId } from './client.ts';
import type { Grant } from './resources.ts';

const GRANTS = '/partner/consent/grants';
const GRANT = `${GRANTS}/{id}` as const;

/** Every connection that the person has or had, newest first. */
export function useGrants() {
  return useQuery({ queryKey: ['grants', 'all'], queryFn: fetchGrants });
}

function fetchGrants(): Promise<Grant[]> {
  return getAll((page) => api.GET(GRANTS, { params: { query: page } }));
}

export function useGrant(id: string) {
  return useQuery({
    queryKey: ['grants', id],
    queryFn: () => fetchGrant(id),
    // It may have been ended in another window.
    refetchOnWindowFocus: 'always',
  });
}

function fetchGrant(id: string): Promise<Grant> {
  return dataOf(api.GET(GRANT, ofId(id)));
}

/** What can be reduced: fewer scopes, an earlier end, a later first day. */
export interface Narrowing {
  readonly scopes?: readonly string[];
  readonly expiresAt?: string;
  readonly dataFrom?: string;
}

// Includes accesses, so that all parts of the page are consistent.
const AFFECTED = [['grants'], ['accesses']];

/** Narrows a grant; in effect when the response arrives. */
export function useNarrowing(id: string) {
  return useChange({
    queryKey: ['grants', id],
    read: () => fetchGrant(id),
    send: (change: Narrowing) => answerOf(api.PATCH(GRANT, { ...ofId(id), body: change })),
    isMade: isNarrowed,
    affected: AFFECTED,
  });
}

function isNarrowed(grant: Grant, { scopes, expiresAt, dataFrom }: Narrowing): boolean {
  return (
    (scopes === undefined || grant.scopes.every((scope) => scopes.includes(scope))) &&
    (expiresAt === undefined || Date.parse(grant.expiresAt) === Date.parse(expiresAt)) &&
    (dataFrom === undefined || grant.dataFrom === dataFrom)
  );
}

/** Ends a grant; no request that starts after the response gets data. */
export function useRevocation(id: string) {
  return useChange({
    queryKey: ['grants', id],
    read: () => fetchGrant(id),
    send: () => answerOf(api.DELETE(GRANT, ofId(id))),
    isMade: ({ status }) => status !== 'active',
    affected: AFFECTED,
  });
}

/** Ends all grants. */
export function useRevocationOfAll() {
  return useChange({
    queryKey: ['grants', 'all'],
    read: fetchGrants,
    send: () => answerOf(api.POST(`${GRANTS}/revoke-all`)),
    isMade: (grants) => grants.every(({ status }) => status !== 'active'),
    affected: AFFECTED,
  });
}

/** Asks the app to delete what it has read. The first request stands. */
export function useDeletionRequest(id: string) {
  return useChange({
    queryKey: ['grants', id],
    read: () => fetchGrant(id),
    send: () => answerOf(api.POST(`${GRANT}/deletion-request`, ofId(id))),
    isMade: ({ deletionRequestedAt }) => deletionRequestedAt !== null,
    affected: [['grants']],
  });
}

/** The signed receipt of a grant as it is now. */
export function useReceipt(id: string) {
  return useQuery({
    queryKey: ['grants', id, 'receipt'],
    queryFn: () => dataOf(api.GET(`${GRANT}/receipt`, ofId(id))),
  });
}

export type KnownApps = ReturnType<typeof useKnownApps>;

/** Every app that the person has or had a connection with, the latest connection first. */
export function useKnownApps() {
  return useQuery({
    queryKey: ['grants', 'apps'],
    queryFn: () => getAll((query) => api.GET('/partner/consent/apps', { params: { query } })),
  });
}
