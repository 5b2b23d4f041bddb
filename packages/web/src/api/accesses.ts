import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { get, getAll, type Page, toPath } from './client.ts';
import type { Access, AccessDay } from './resources.ts';

/**
 * Filters of accesses; an absent filter matches all. For the list, `from` and `to` are instants and `to` is exclusive. For days,
 * both or none are given as days (YYYY-MM-DD), inclusive.
 */
export interface AccessFilter {
  readonly clientId?: string | undefined;
  readonly scope?: string | undefined;
  readonly grantId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const ACCESSES = '/partner/consent/accesses';

/** Who read what, newest first. */
export function useAccesses(filter: AccessFilter, page: number, pageSize = 20) {
  return useQuery({
    queryKey: ['accesses', filter, page, pageSize],
    queryFn: () => get<Page<Access>>(ACCESSES, { ...filter, page, pageSize }),
    placeholderData: keepPreviousData,
  });
}

/** URL of the CSV file with all of them. */
export function toExportPath(filter: AccessFilter): string {
  return toPath(`${ACCESSES}.csv`, { ...filter });
}

/** Accesses by app and UTC day, by default of the last 30 days. */
export function useAccessDays(filter: AccessFilter) {
  return useQuery({
    queryKey: ['accesses', 'days', filter],
    queryFn: () => getAll<AccessDay>(`${ACCESSES}/summary`, { ...filter }),
    placeholderData: keepPreviousData,
  });
}
