import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Data, get, getAll, type Page, send } from './client.ts';
import type { AppStatus, DeveloperApp, NewApp, RotatedSecret, UsageDay } from './resources.ts';

const APPS = '/developer/apps';
const pathOf = (clientId: string) => `${APPS}/${encodeURIComponent(clientId)}`;

/** What a developer says about an app. */
export type AppSettings = Pick<
  DeveloperApp,
  'name' | 'redirectUris' | 'scopes' | 'description' | 'homepageUrl' | 'privacyPolicyUrl' | 'requirePkce'
>;

export function useApps(page: number) {
  return useQuery({
    queryKey: ['developer-apps', page],
    queryFn: () => get<Page<DeveloperApp>>(APPS, { page, pageSize: 50 }),
  });
}

/** Every app of this developer; the service bounds how many there are. */
export function useAllApps() {
  return useQuery({
    queryKey: ['developer-apps', 'all'],
    queryFn: () => getAll<DeveloperApp>(APPS),
  });
}

export function useApp(clientId: string) {
  return useQuery({
    queryKey: ['developer-apps', clientId],
    queryFn: async () => (await get<Data<DeveloperApp>>(pathOf(clientId))).data,
  });
}

/** Recorded accesses and refused attempts by day and endpoint, newest first. */
export function useUsage(clientId: string) {
  return useQuery({
    queryKey: ['developer-apps', clientId, 'usage'],
    queryFn: () => getAll<UsageDay>(`${pathOf(clientId)}/usage`),
  });
}

/** Registers an app. The answer holds the secret, this once. */
export function useRegistration() {
  return useAppChange(
    async (settings: AppSettings) => (await send<Data<NewApp>>('POST', APPS, settings)).data,
  );
}

export function useSettingsChange(clientId: string) {
  return useAppChange((settings: Partial<AppSettings>) => send('PATCH', pathOf(clientId), settings));
}

/** A new secret, shown this once; the old one fails at the very next request. */
export function useRotation(clientId: string) {
  return useAppChange(
    async () => (await send<Data<RotatedSecret>>('POST', `${pathOf(clientId)}/rotate-secret`)).data,
  );
}

export function useStatusChange(clientId: string) {
  return useAppChange((status: AppStatus) => send('POST', `${pathOf(clientId)}/status`, { status }));
}

function useAppChange<Change, Answer>(change: (change: Change) => Promise<Answer>) {
  const client = useQueryClient();
  const lookAgain = () => client.invalidateQueries({ queryKey: ['developer-apps'] });
  return useMutation({
    mutationFn: change,
    onSuccess: lookAgain,
    // Beside: the refusal itself is said at once.
    onError: () => void lookAgain(),
  });
}
