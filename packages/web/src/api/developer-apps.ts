import { useQuery } from '@tanstack/react-query';
import { useChange } from './change.ts';
import { type Data, get, getAll, type Page, send } from './client.ts';
import type { AppStatus, DeveloperApp, NewApp, RotatedSecret, UsageDay } from './resources.ts';

const APPS = '/developer/apps';
const ALL = ['developer-apps', 'all'];
const AFFECTED = [['developer-apps']];
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
    queryKey: ALL,
    queryFn: fetchAllApps,
  });
}

function fetchAllApps(): Promise<DeveloperApp[]> {
  return getAll<DeveloperApp>(APPS);
}

export function useApp(clientId: string) {
  return useQuery({
    queryKey: ['developer-apps', clientId],
    queryFn: () => fetchApp(clientId),
  });
}

async function fetchApp(clientId: string): Promise<DeveloperApp> {
  return (await get<Data<DeveloperApp>>(pathOf(clientId))).data;
}

/** Accesses and refused attempts by day and endpoint, newest first. */
export function useUsage(clientId: string) {
  return useQuery({
    queryKey: ['developer-apps', clientId, 'usage'],
    queryFn: () => getAll<UsageDay>(`${pathOf(clientId)}/usage`),
  });
}

/** Registers an app. The answer holds the secret, this once. A lost one is recognised when useAllApps has been read before. */
export function useRegistration() {
  return useChange({
    queryKey: ALL,
    read: fetchAllApps,
    send: async (settings: AppSettings) => (await send<Data<NewApp>>('POST', APPS, settings)).data,
    isMade: (apps, { name }, before) => (before === undefined ? null : findNew(apps, before, name) !== null),
    affected: AFFECTED,
  });
}

/** An app of that name that was not there before. */
export function findNew(
  apps: readonly DeveloperApp[],
  before: readonly DeveloperApp[],
  name: string,
): DeveloperApp | null {
  const known = new Set(before.map(({ clientId }) => clientId));
  return apps.find((app) => app.name === name && !known.has(app.clientId)) ?? null;
}

export function useSettingsChange(clientId: string) {
  return useAppChange({
    clientId,
    send: (settings: Partial<AppSettings>) => send<unknown>('PATCH', pathOf(clientId), settings),
    isMade: (app, settings, before) => {
      const names = Object.keys(settings) as (keyof AppSettings)[];
      const isSame = names.every((name) => JSON.stringify(app[name]) === JSON.stringify(settings[name]));
      // Other settings than before may be those of another window, or these in another spelling.
      return isSame || (app.updatedAt === before?.updatedAt ? false : null);
    },
  });
}

/** A new secret, shown this once; the old one fails at the very next request. */
export function useRotation(clientId: string) {
  return useAppChange({
    clientId,
    send: async (_: undefined) =>
      (await send<Data<RotatedSecret>>('POST', `${pathOf(clientId)}/rotate-secret`)).data,
    isMade: ({ secretLast4 }, _, before) =>
      before === undefined ? null : secretLast4 !== before.secretLast4,
  });
}

export function useStatusChange(clientId: string) {
  return useAppChange({
    clientId,
    send: (status: AppStatus) => send<unknown>('POST', `${pathOf(clientId)}/status`, { status }),
    isMade: (app, status) => app.status === status,
  });
}

function useAppChange<Change, Answer>({
  clientId,
  ...rest
}: {
  readonly clientId: string;
  readonly send: (change: Change) => Promise<Answer>;
  readonly isMade: (app: DeveloperApp, change: Change, before: DeveloperApp | undefined) => boolean | null;
}) {
  return useChange({
    queryKey: ['developer-apps', clientId],
    read: () => fetchApp(clientId),
    affected: AFFECTED,
    ...rest,
  });
}
