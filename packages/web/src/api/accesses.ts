import type { Scope } from '@phds/catalog/scopes';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { TIME_ZONE } from '../ui/time.tsx';
import { answerOf, api, getAll, toQuery } from './client.ts';

/** Filters of accesses; an absent filter matches all. `from` and `to` are instants, and `to` is exclusive. */
export interface AccessFilter {
  readonly clientId?: string;
  readonly scope?: Scope;
  readonly grantId?: string;
  readonly from?: string;
  readonly to?: string;
}

/** Filters of days with accesses. `from` and `to` are days (YYYY-MM-DD) in the browser's zone, inclusive. */
export type DayFilter = AccessFilter & { readonly from: string; readonly to: string };

const ACCESSES = '/partner/consent/accesses';

/** Who read what, newest first. */
export function useAccesses(filter: AccessFilter, page: number, pageSize = 20) {
  return useQuery({
    queryKey: ['accesses', filter, page, pageSize],
    queryFn: () => answerOf(api.GET(ACCESSES, { params: { query: { ...filter, page, pageSize } } })),
    placeholderData: keepPreviousData,
  });
}

/** What operators did about the person, newest first. */
export function useOperatorActs(page: number) {
  return useQuery({
    queryKey: ['operator-acts', page],
    queryFn: () => answerOf(api.GET('/partner/consent/operator-acts', { params: { query: { page } } })),
    placeholderData: keepPreviousData,
  });
}

/** URL of the CSV file with all of them. */
export function toExportPath(filter: AccessFilter): string {
  const query = toQuery({ ...filter });
  return query.size === 0 ? `${ACCESSES}.csv` : `${ACCESSES}.csv?${query}`;
}

/** Accesses by app and day of the browser's zone, newest day first. */
export function useAccessDays(filter: DayFilter) {
  return useQuery({
    queryKey: ['accesses', 'days', filter],
    queryFn: () =>
      getAll((page) =>
        api.GET(`${ACCESSES}/summary`, { params: { query: { ...filter, ...page, timeZone: TIME_ZONE } } }),
      ),
    placeholderData: keepPreviousData,
  });
}
