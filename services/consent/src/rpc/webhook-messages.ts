import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { WEBHOOK_STATES, type WebhookState } from '@phds/catalog/webhooks';
import type { DeliverySchema, WebhookSchema } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import type { WebhookEndpoint } from '../domain/webhook-endpoint.ts';
import { toEventBody, type WebhookDelivery } from '../domain/webhook-event.ts';

export function toWebhookMessage(endpoint: WebhookEndpoint): MessageInitShape<typeof WebhookSchema> {
  const { clientId, url, events, previousSecretUntil, disabledReason, failingSince } = endpoint;
  return {
    clientId,
    url,
    events: [...events],
    ...(previousSecretUntil !== null && { previousSecretExpiresAt: timestampFromDate(previousSecretUntil) }),
    disabledReason: disabledReason ?? '',
    ...(failingSince !== null && { failingSince: timestampFromDate(failingSince) }),
    createdAt: timestampFromDate(endpoint.createdAt),
    updatedAt: timestampFromDate(endpoint.updatedAt),
  };
}

export function toDeliveryMessage(delivery: WebhookDelivery): MessageInitShape<typeof DeliverySchema> {
  const { id, type, grantId, state, createdAt, attempts, nextAttemptAt } = delivery;
  return {
    id,
    type,
    grantId: grantId ?? '',
    state,
    createdAt: timestampFromDate(createdAt),
    attempts: attempts.map(({ at, status, failure, ms }) => ({
      at: timestampFromDate(at),
      status: status ?? 0,
      failure: failure ?? '',
      ms,
    })),
    ...(nextAttemptAt !== null && { nextAttemptAt: timestampFromDate(nextAttemptAt) }),
    body: toEventBody(delivery),
  };
}

/** Null when empty. */
export function findState(text: string): WebhookState | null {
  if (text === '') return null;
  const state = WEBHOOK_STATES.find((each) => each === text);
  if (state === undefined) throw invalidRequest('state', `must be one of ${WEBHOOK_STATES.join(', ')}`);
  return state;
}
