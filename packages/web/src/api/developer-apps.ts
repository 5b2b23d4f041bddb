import type { ProblemCode } from '@phds/catalog/problems';
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query';
import { useChange } from './change.ts';
import { answerOf, api, dataOf, getAll, ofApp } from './client.ts';
import type { AppStatus, DeveloperApp, Triggered } from './resources.ts';

const APPS = '/developer/apps';
const APP = `${APPS}/{clientId}` as const;
const ALL = ['developer-apps', 'all'];
const AFFECTED = [['developer-apps']];

/** The settings of an app that its developer edits. */
export type AppSettings = Pick<
  DeveloperApp,
  | 'name'
  | 'redirectUris'
  | 'scopes'
  | 'description'
  | 'developerName'
  | 'homepageUrl'
  | 'privacyPolicyUrl'
  | 'requirePkce'
>;

/** How an app authenticates itself, and what it has to prove. */
export type KeySettings = Pick<
  DeveloperApp,
  | 'tokenEndpointAuthMethod'
  | 'jwks'
  | 'jwksUri'
  | 'dpopBoundAccessTokens'
  | 'requirePushedAuthorizationRequests'
>;

/** Whether the secret alone gets tokens of the app. */
export function usesSecretAlone(app: DeveloperApp): boolean {
  return app.tokenEndpointAuthMethod === 'client_secret_basic' && !app.dpopBoundAccessTokens;
}

/** A page of apps, and whether the person may register others. */
export function useApps(page: number) {
  return useQuery({
    queryKey: ['developer-apps', page],
    queryFn: () => answerOf(api.GET(APPS, { params: { query: { page, pageSize: 50 } } })),
  });
}

/** All apps of this developer; the service limits their number. */
export function useAllApps() {
  return useQuery({
    queryKey: ALL,
    queryFn: fetchAllApps,
  });
}

function fetchAllApps(): Promise<DeveloperApp[]> {
  return getAll((query) => api.GET(APPS, { params: { query } }));
}

export function useApp(clientId: string) {
  return useQuery({
    queryKey: ['developer-apps', clientId],
    queryFn: () => fetchApp(clientId),
  });
}

function fetchApp(clientId: string): Promise<DeveloperApp> {
  return dataOf(api.GET(APP, ofApp(clientId)));
}

/** Accesses and refused requests by day and endpoint, newest first. */
export function useUsage(clientId: string) {
  return useQuery({
    queryKey: ['developer-apps', clientId, 'usage'],
    queryFn: () => getAll((query) => api.GET(`${APP}/usage`, { params: { path: { clientId }, query } })),
  });
}

/** Filters of the request log; an absent filter matches all. */
export interface RequestFilter {
  readonly requestId?: string;
  /** A status such as 429, or a class such as 4xx. */
  readonly status?: string;
  readonly code?: ProblemCode;
}

/** The latest requests, newest first; not `complete` when the service can read only some of them. */
export function useRequests(clientId: string, filter: RequestFilter, page: number) {
  return useQuery({
    queryKey: ['developer-apps', clientId, 'requests', filter, page],
    queryFn: () =>
      answerOf(api.GET(`${APP}/requests`, { params: { path: { clientId }, query: { ...filter, page } } })),
    placeholderData: keepPreviousData,
  });
}

/**
 * Registers an app. The response contains the secret, only this time. If it is lost, the new app is found by comparison with an
 * earlier useAllApps.
 */
export function useRegistration() {
  return useChange({
    queryKey: ALL,
    read: fetchAllApps,
    send: (settings: AppSettings & Pick<DeveloperApp, 'applicationType'>) =>
      dataOf(api.POST(APPS, { body: settings })),
    isMade: (apps, { name }, before) => (before === undefined ? null : findNew(apps, before, name) !== null),
    affected: AFFECTED,
  });
}

/** An app with this name that did not exist before. */
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
    send: (settings: Partial<AppSettings & KeySettings>) =>
      answerOf(api.PATCH(APP, { ...ofApp(clientId), body: settings })),
    isMade: (app, settings, before) => {
      const names = Object.keys(settings) as (keyof typeof settings)[];
      const isSame = names.every((name) => JSON.stringify(app[name]) === JSON.stringify(settings[name]));
      // Different settings may come from another window, or be the same in another spelling.
      return isSame || (app.updatedAt === before?.updatedAt ? false : null);
    },
  });
}

/** Rotates the secret, which is returned only this time. */
export function useRotation(clientId: string) {
  return useAppChange({
    clientId,
    send: (_: undefined) => dataOf(api.POST(`${APP}/rotate-secret`, ofApp(clientId))),
    isMade: ({ secretLast4 }, _, before) =>
      before === undefined ? null : secretLast4 !== before.secretLast4,
  });
}

export function useStatusChange(clientId: string) {
  return useAppChange({
    clientId,
    send: (status: AppStatus) =>
      answerOf(api.POST(`${APP}/status`, { ...ofApp(clientId), body: { status } })),
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

/** The number of days of an app's usage that the service returns unless others are asked for. */
export const USAGE_DAYS = 30;

/** Lets something happen to a connection, as its person or time would. */
export function useTrigger(clientId: string) {
  return useMutation({
    mutationFn: (body: Pick<Triggered, 'trigger' | 'grantId'>) =>
      dataOf(api.POST(`${APP}/sandbox/triggers`, { ...ofApp(clientId), body })),
  });
}
