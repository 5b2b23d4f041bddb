import type { Scope } from '@phds/catalog/scopes';
import { useQuery } from '@tanstack/react-query';
import { currentLanguage } from '../texts/language.ts';
import { api, dataOf } from './client.ts';

/** How much data of each type is held, and the newest item of each. */
export function useOverview() {
  return useQuery({
    queryKey: ['overview'],
    queryFn: () => dataOf(api.GET('/partner/consent/overview')),
  });
}

/** URL of the archive with the person's data, with an index in the language of the page. */
export function toArchivePath(): string {
  return `/partner/consent/own-data.zip?lang=${currentLanguage()}`;
}

/** The person's own data as an app with this scope, which may look back to the first day, would receive it. */
export function usePreview(scope: Scope, firstDay: string | null) {
  const query = { scope, ...(firstDay === null ? {} : { dataFrom: firstDay }) };
  return useQuery({
    queryKey: ['preview', query],
    queryFn: () => dataOf(api.GET('/partner/consent/preview', { params: { query } })),
  });
}
