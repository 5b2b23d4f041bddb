import type { WebhookState } from '@phds/catalog/webhooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { answerOf, api, dataOf, ofApp } from './client.ts';
import { useConsoleChange } from './developer-apps.ts';
import { Problem } from './problem.ts';
import type { Webhook } from './resources.ts';

/** Its secret is returned only when it is new. */
export interface WebhookWithSecret extends Webhook {
  readonly secret?: string;
}

export type WebhookSettings = Pick<Webhook, 'url' | 'events'>;

const WEBHOOK = '/developer/apps/{clientId}/webhook';
const keyOf = (clientId: string) => ['webhook', clientId];

/** While a delivery is pending or the receiver fails, the state is read again at this interval. */
const LOOK_EVERY_MS = 3_000;

/** The endpoint of an app; null when it has none. */
export function useWebhook(clientId: string) {
  return useQuery({
    queryKey: keyOf(clientId),
    queryFn: () => fetchWebhook(clientId),
    refetchInterval: ({ state: { data } }) => (data?.failingSince ? LOOK_EVERY_MS : false),
  });
}

async function fetchWebhook(clientId: string): Promise<Webhook | null> {
  try {
    return await dataOf(api.GET(WEBHOOK, ofApp(clientId)));
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/** Sets up the endpoint, or changes its URL and events. The answer has the secret when the endpoint is new. */
export function useWebhookChange(clientId: string) {
  return useConsoleChange(
    keyOf(clientId),
    (body: WebhookSettings): Promise<WebhookWithSecret> =>
      dataOf(api.PUT(WEBHOOK, { ...ofApp(clientId), body })),
  );
}

/** Replaces the secret, which is returned only this time; the old one signs as well for the given seconds. */
export function useWebhookRotation(clientId: string) {
  return useConsoleChange(
    keyOf(clientId),
    (overlapSeconds: number): Promise<WebhookWithSecret> =>
      dataOf(api.POST(`${WEBHOOK}/rotate-secret`, { ...ofApp(clientId), body: { overlapSeconds } })),
  );
}

export function useWebhookRemoval(clientId: string) {
  return useConsoleChange(keyOf(clientId), () => answerOf(api.DELETE(WEBHOOK, ofApp(clientId))));
}

/** Sends an event of type `test`. A second one does no harm. */
export function useTestEvent(clientId: string) {
  return useConsoleChange(keyOf(clientId), () => answerOf(api.POST(`${WEBHOOK}/test`, ofApp(clientId))));
}

/** Delivers an event again, with the same id. Receivers recognise it, so a second request does no harm. */
export function useRedelivery(clientId: string) {
  return useConsoleChange(keyOf(clientId), (id: string) =>
    answerOf(api.POST(`${WEBHOOK}/deliveries/{id}/redeliver`, { params: { path: { clientId, id } } })),
  );
}

/** Events with the log of their delivery, newest first; an empty state means all. */
export function useDeliveries(clientId: string, state: WebhookState | '', page: number) {
  return useQuery({
    queryKey: [...keyOf(clientId), 'deliveries', state, page],
    queryFn: () => {
      const query = { page, ...(state === '' ? {} : { state }) };
      return answerOf(api.GET(`${WEBHOOK}/deliveries`, { params: { path: { clientId }, query } }));
    },
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      data?.data.some((delivery) => delivery.state === 'pending') === true ? LOOK_EVERY_MS : false,
  });
}
