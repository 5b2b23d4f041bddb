import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useChange } from './change.ts';
import { type Data, get, type Page, send } from './client.ts';
import type { SignedReceipt } from './receipt.ts';
import type { Grant, GrantStatus } from './resources.ts';

const GRANTS = '/partner/consent/grants';
const PAGE_SIZE = 20;
const pathOf = (id: string) => `${GRANTS}/${encodeURIComponent(id)}`;

/** A page of the consent grants with a status, newest first. */
export function useGrants(status: GrantStatus, page: number) {
  return useQuery({
    queryKey: listKey(status, page),
    queryFn: () => fetchGrants(status, page),
    placeholderData: keepPreviousData,
  });
}

function listKey(status: GrantStatus, page: number) {
  return ['grants', status, page];
}

function fetchGrants(status: GrantStatus, page: number): Promise<Page<Grant>> {
  return get<Page<Grant>>(GRANTS, { status, page, pageSize: PAGE_SIZE });
}

export function useGrant(id: string) {
  return useQuery({
    queryKey: ['grants', id],
    queryFn: () => fetchGrant(id),
    // It may have been ended in another window.
    refetchOnWindowFocus: 'always',
  });
}

async function fetchGrant(id: string): Promise<Grant> {
  return (await get<Data<Grant>>(pathOf(id))).data;
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
    send: (change: Narrowing) => send<Data<Grant>>('PATCH', pathOf(id), change),
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
    send: () => send<unknown>('DELETE', pathOf(id)),
    isMade: ({ status }) => status !== 'active',
    affected: AFFECTED,
  });
}

/** Ends all grants; `page` is the page of the list that is shown. */
export function useRevocationOfAll(page: number) {
  return useChange({
    queryKey: listKey('active', page),
    read: () => fetchGrants('active', page),
    send: () => send<unknown>('POST', `${GRANTS}/revoke-all`),
    isMade: ({ pagination }) => pagination.total === 0,
    affected: AFFECTED,
  });
}

/** Asks the app to delete what it has read. The first request stands. */
export function useDeletionRequest(id: string) {
  return useChange({
    queryKey: ['grants', id],
    read: () => fetchGrant(id),
    send: () => send<unknown>('POST', `${pathOf(id)}/deletion-request`),
    isMade: ({ deletionRequestedAt }) => deletionRequestedAt !== null,
    affected: [['grants']],
  });
}

/** The path of reports about the app of a grant. */
export function toReportPath(id: string): string {
  return `${pathOf(id)}/report`;
}

/** The signed receipt of a grant as it is now. */
export function useReceipt(id: string) {
  return useQuery({
    queryKey: ['grants', id, 'receipt'],
    queryFn: async () => (await get<Data<SignedReceipt>>(`${pathOf(id)}/receipt`)).data,
  });
}
