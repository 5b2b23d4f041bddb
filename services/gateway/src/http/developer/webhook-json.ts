import { WEBHOOK_DISABLED, WEBHOOK_EVENTS, WEBHOOK_FAILURES, WEBHOOK_STATES } from '@phds/catalog/webhooks';
import type { Delivery, Webhook } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { z } from 'zod';
import { count, instant, instantOrNull, text } from '../openapi/fields.ts';
import { toInstant, toNullable } from '../timestamps.ts';
import { webhookEventJson } from './webhook-events.ts';

/** Body of an endpoint. Consent checks the URL. */
export const webhookBody = z.strictObject({
  url: z.string('must be a text').meta({
    description: 'https, without user name, password and fragment; its host has public addresses only.',
  }),
  events: z
    .array(z.enum(WEBHOOK_EVENTS, `must be one of ${WEBHOOK_EVENTS.join(', ')}`), 'must be a list of events')
    .min(1, 'must name at least one'),
});

export const DELIVERIES_QUERY = {
  state: z.enum(WEBHOOK_STATES).meta({ description: 'Only events in this state.' }),
};

// In TypeScript these are texts, as in the messages of the services.
const eventType = z.enum([...WEBHOOK_EVENTS, 'test']) as unknown as z.ZodType<string>;
const state = z.enum(WEBHOOK_STATES) as unknown as z.ZodType<string>;
const failureOrNull = z.enum(WEBHOOK_FAILURES).nullable() as unknown as z.ZodType<string | null>;
const disabledOrNull = z.enum(WEBHOOK_DISABLED).nullable().meta({
  description: '`gone`: the receiver answered 410. Set the URL again to enable the endpoint.',
}) as unknown as z.ZodType<string | null>;

export const webhookJson = z
  .object({
    url: text,
    events: z.array(z.enum(WEBHOOK_EVENTS) as unknown as z.ZodType<string>),
    previousSecretExpiresAt: instantOrNull.meta({
      description: 'Until then the secret before signs as well; null when it does not.',
    }),
    disabledReason: disabledOrNull,
    failingSince: instantOrNull.meta({
      description:
        'The first failed attempt since the last accepted one; null when the last one was accepted.',
    }),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Webhook' });

const secret = text.meta({ description: '`whsec_…`, shown once, here.' });

export const newWebhookJson = webhookJson.extend({ secret }).meta({ id: 'NewWebhook' });

export const sentEventJson = z.object({ id: text.meta({ description: 'Of the event: `webhook-id`.' }) });

export const deliveryJson = z
  .object({
    id: text.meta({ description: 'Of the event: `webhook-id`.' }),
    type: eventType,
    grantId: text.nullable(),
    state,
    createdAt: instant,
    attempts: z
      .array(
        z.object({
          at: instant,
          status: count
            .nullable()
            .meta({ description: 'HTTP status of the receiver; null without an answer.' }),
          failure: failureOrNull.meta({ description: 'null when the receiver accepted it.' }),
          ms: count,
        }),
      )
      .meta({ description: 'The newest 20, oldest first.' }),
    nextAttemptAt: instantOrNull,
    body: webhookEventJson,
  })
  .meta({ id: 'WebhookDelivery' });

export function toWebhookJson(webhook: Webhook): z.infer<typeof webhookJson> {
  return {
    url: webhook.url,
    events: webhook.events,
    previousSecretExpiresAt: toInstant(webhook.previousSecretExpiresAt),
    disabledReason: toNullable(webhook.disabledReason),
    failingSince: toInstant(webhook.failingSince),
    createdAt: toInstant(webhook.createdAt),
    updatedAt: toInstant(webhook.updatedAt),
  };
}

export function toDeliveryJson(delivery: Delivery): z.infer<typeof deliveryJson> {
  return {
    id: delivery.id,
    type: delivery.type,
    grantId: toNullable(delivery.grantId),
    state: delivery.state,
    createdAt: toInstant(delivery.createdAt),
    attempts: delivery.attempts.map(({ at, status, failure, ms }) => ({
      at: toInstant(at),
      status: status === 0 ? null : status,
      failure: toNullable(failure),
      ms,
    })),
    nextAttemptAt: toInstant(delivery.nextAttemptAt),
    body: JSON.parse(delivery.body),
  };
}
