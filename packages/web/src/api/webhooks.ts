import type {
  WebhookDisabled,
  WebhookEvent,
  WebhookFailure,
  WebhookState,
  WebhookType,
} from '@phds/catalog/webhooks';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useChange } from './change.ts';
import { type Data, get, type Page, send } from './client.ts';
import { Problem } from './problem.ts';

/** Where an app receives events. */
export interface Webhook {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  /** Until then the secret before the last rotation signs as well; null when it does not. */
  readonly previousSecretExpiresAt: string | null;
  /** Why nothing is sent; null while the endpoint is in use. */
  readonly disabledReason: WebhookDisabled | null;
  /** The first failed attempt since the last accepted one; null when the last one was accepted. */
  readonly failingSince: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** With the secret, which is returned only when it is new. */
export interface WebhookWithSecret extends Webhook {
  readonly secret?: string;
}

export type WebhookSettings = Pick<Webhook, 'url' | 'events'>;

/** One event with what became of it. */
export interface Delivery {
  readonly id: string;
  readonly type: WebhookType;
  /** Null for a test. */
  readonly grantId: string | null;
  readonly state: WebhookState;
  readonly createdAt: string;
  /** Oldest first. */
  readonly attempts: readonly DeliveryAttempt[];
  /** Null unless pending. */
  readonly nextAttemptAt: string | null;
  /** What is sent. */
  readonly body: unknown;
}

export interface DeliveryAttempt {
  readonly at: string;
  /** HTTP status; null without an answer. */
  readonly status: number | null;
  /** Null when it was accepted. */
  readonly failure: WebhookFailure | null;
  readonly ms: number;
}

const pathOf = (clientId: string) => `/developer/apps/${encodeURIComponent(clientId)}/webhook`;
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
    return (await get<Data<Webhook>>(pathOf(clientId))).data;
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return null;
    throw error;
  }
}

/** Sets up the endpoint, or changes its URL and events. The answer has the secret when the endpoint is new. */
export function useWebhookChange(clientId: string) {
  return useOwnChange({
    clientId,
    send: async ({ url, events }: WebhookSettings) =>
      (await send<Data<WebhookWithSecret>>('PUT', pathOf(clientId), { url, events })).data,
    isMade: (webhook, { url, events }) =>
      // The service stores the URL as it requests it.
      webhook?.url === (URL.parse(url)?.href ?? url) &&
      webhook.events.toSorted().join() === events.toSorted().join(),
  });
}

/** Replaces the secret, which is returned only this time; the old one signs as well for the given seconds. */
export function useWebhookRotation(clientId: string) {
  return useOwnChange({
    clientId,
    send: async (overlapSeconds: number) =>
      (await send<Data<WebhookWithSecret>>('POST', `${pathOf(clientId)}/rotate-secret`, { overlapSeconds }))
        .data,
    isMade: (webhook, _, before) => (before ? webhook?.updatedAt !== before.updatedAt : null),
  });
}

export function useWebhookRemoval(clientId: string) {
  return useOwnChange({
    clientId,
    send: (_: undefined) => send<unknown>('DELETE', pathOf(clientId)),
    isMade: (webhook) => webhook === null,
  });
}

function useOwnChange<Change, Answer>({
  clientId,
  ...rest
}: {
  readonly clientId: string;
  readonly send: (change: Change) => Promise<Answer>;
  readonly isMade: (
    webhook: Webhook | null,
    change: Change,
    before: Webhook | null | undefined,
  ) => boolean | null;
}) {
  return useChange({
    queryKey: keyOf(clientId),
    read: () => fetchWebhook(clientId),
    affected: [keyOf(clientId)],
    ...rest,
  });
}

/** Sends an event of type `test`. A second one does no harm. */
export function useTestEvent(clientId: string) {
  return useDeliveryMutation(clientId, (_: undefined) => send<unknown>('POST', `${pathOf(clientId)}/test`));
}

/** Delivers an event again, with the same id. Receivers recognise it, so a second request does no harm. */
export function useRedelivery(clientId: string) {
  return useDeliveryMutation(clientId, (eventId: string) =>
    send<unknown>('POST', `${pathOf(clientId)}/deliveries/${encodeURIComponent(eventId)}/redeliver`),
  );
}

function useDeliveryMutation<Change>(clientId: string, mutationFn: (change: Change) => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn,
    onSuccess: () => client.invalidateQueries({ queryKey: keyOf(clientId) }),
  });
}

/** Events with the log of their delivery, newest first; an empty state means all. */
export function useDeliveries(clientId: string, state: WebhookState | '', page: number) {
  return useQuery({
    queryKey: [...keyOf(clientId), 'deliveries', state, page],
    queryFn: () => get<Page<Delivery>>(`${pathOf(clientId)}/deliveries`, { state, page }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data } }) =>
      data?.data.some((delivery) => delivery.state === 'pending') === true ? LOOK_EVERY_MS : false,
  });
}
