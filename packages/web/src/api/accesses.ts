import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { TIME_ZONE } from '../ui/time.tsx';
import { get, getAll, type Page, toPath } from './client.ts';
import type { Access, AccessDay } from './resources.ts';

/** Filters of accesses; an absent filter matches all. `from` and `to` are instants, and `to` is exclusive. */
export interface AccessFilter {
  readonly clientId?: string | undefined;
  readonly scope?: string | undefined;
  readonly grantId?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Filters of days with accesses. `from` and `to` are days (YYYY-MM-DD) in the browser's zone, inclusive. */
export interface DayFilter {
  readonly clientId?: string | undefined;
  readonly scope?: string | undefined;
  readonly from: string;
  readonly to: string;
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

/** Accesses by app and day of the browser's zone, newest day first. */
export function useAccessDays(filter: DayFilter) {
  return useQuery({
    queryKey: ['accesses', 'days', filter],
    queryFn: () => getAll<AccessDay>(`${ACCESSES}/summary`, { ...filter, timeZone: TIME_ZONE }),
    placeholderData: keepPreviousData,
  });
}
