import { useQuery } from '@tanstack/react-query';
import { getAll } from './client.ts';
import type { NamedApp } from './resources.ts';

/** An app that the person has or had a connection with. */
export interface KnownApp extends NamedApp {
  /** The domain that it redirects to; null when unknown. */
  readonly redirectHost: string | null;
}

/** Every app that the person has or had a connection with, the latest connection first. */
export function useKnownApps() {
  return useQuery({
    queryKey: ['grants', 'apps'],
    queryFn: () => getAll<KnownApp>('/partner/consent/apps'),
  });
}
