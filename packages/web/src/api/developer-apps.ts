import type { ProfileField } from '@phds/catalog/app-profile';
import type { ProblemCode } from '@phds/catalog/problems';
import {
  keepPreviousData,
  type QueryKey,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useSingleMutation } from './change.ts';
import { answerOf, api, dataOf, getAll, ofApp } from './client.ts';
import type { AppStatus, DeveloperApp, Triggered } from './resources.ts';

const APPS = '/developer/apps';
const APP = `${APPS}/{clientId}` as const;

/** The settings of an app that its developer edits. */
export type AppSettings = Pick<DeveloperApp, ProfileField | 'redirectUris' | 'scopes' | 'requirePkce'>;

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

export function useApp(clientId: string) {
  return useQuery({
    queryKey: ['developer-apps', clientId],
    queryFn: () => dataOf(api.GET(APP, ofApp(clientId))),
  });
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

/** Registers an app. The answer contains the secret, only this time. */
export function useRegistration() {
  return useConsoleChange(['developer-apps'], (body: AppSettings & Pick<DeveloperApp, 'applicationType'>) =>
    dataOf(api.POST(APPS, { body })),
  );
}

export function useSettingsChange(clientId: string) {
  return useConsoleChange(['developer-apps'], (body: Partial<AppSettings & KeySettings>) =>
    answerOf(api.PATCH(APP, { ...ofApp(clientId), body })),
  );
}

/** Rotates the secret, which is returned only this time. */
export function useRotation(clientId: string) {
  return useConsoleChange(['developer-apps'], () =>
    dataOf(api.POST(`${APP}/rotate-secret`, ofApp(clientId))),
  );
}

export function useStatusChange(clientId: string) {
  return useConsoleChange(['developer-apps'], (status: AppStatus) =>
    answerOf(api.POST(`${APP}/status`, { ...ofApp(clientId), body: { status } })),
  );
}

/**
 * A change in the console. Afterwards the page reads what it shows again, also when no answer came: then it does not say whether the
 * change was made, and the developer sees that. Throws Problem.
 */
export function useConsoleChange<Change, Answer>(
  queryKey: QueryKey,
  mutationFn: (change: Change) => Promise<Answer>,
) {
  const client = useQueryClient();
  const readAgain = () => client.invalidateQueries({ queryKey });
  // A failure is shown at once.
  return useSingleMutation({ mutationFn, onSuccess: readAgain, onError: () => void readAgain() });
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
