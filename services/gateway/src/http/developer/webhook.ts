import { SECRET_OVERLAP_MAX_SECONDS } from '@phds/catalog/lifetimes';
import {
  WEBHOOK_DISABLED,
  WEBHOOK_EVENTS,
  WEBHOOK_FAILURES,
  WEBHOOK_STATES,
  type WebhookType,
} from '@phds/catalog/webhooks';
import type { Delivery, Webhook } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { z } from 'zod';
import { readJsonBody } from '../body.ts';
import { type Exchange, onBehalf, pathParameter } from '../exchange.ts';
import { required, toJson } from '../messages.ts';
import {
  category,
  count,
  dataOf,
  date,
  grantEnder,
  instant,
  instantOrNull,
  listOf,
  PAGE_QUERY,
  scope,
  text,
} from '../openapi/fields.ts';
import { jsonOperation, type MountedOperation, sessionOperation } from '../operation.ts';
import { findChoice, toList } from '../query.ts';
import { send, sendJson } from '../respond.ts';

const aboutGrant = {
  grantId: text,
  sub: text.meta({ description: 'The person, as in the answers of the token endpoint.' }),
};
const ended = { ...aboutGrant, endedBy: grantEnder };

/** The body of an event (Standard Webhooks). Consent makes it; no code here parses it. */
function eventOf(id: string, type: WebhookType, data: z.ZodRawShape) {
  return z.object({ type: z.literal(type), timestamp: instant, data: z.object(data) }).meta({ id });
}

/** The bodies of the events by type, with what each tells. */
export const WEBHOOK_BODIES = {
  'grant.revoked': {
    summary: 'A grant was ended',
    body: eventOf('GrantRevokedEvent', 'grant.revoked', ended),
  },
  'grant.expired': {
    summary: 'A grant reached its end',
    body: eventOf('GrantExpiredEvent', 'grant.expired', ended),
  },
  'grant.narrowed': {
    summary: 'A grant shares less: these are its terms now',
    body: eventOf('GrantNarrowedEvent', 'grant.narrowed', {
      ...aboutGrant,
      scopes: z.array(scope),
      expiresAt: instant,
      dataFrom: date.nullable().meta({ description: 'The first day that is shared; null for everything.' }),
    }),
  },
  'grant.deletion_requested': {
    summary: 'A person asks the app to delete what it has read',
    body: eventOf('GrantDeletionRequestedEvent', 'grant.deletion_requested', {
      ...aboutGrant,
      requestedAt: instant,
    }),
  },
  'data.updated': {
    summary: 'Readings of a shared category were added, changed or deleted',
    body: eventOf('DataUpdatedEvent', 'data.updated', {
      ...aboutGrant,
      categories: z.array(category),
      lastDataAt: instant,
    }),
  },
  test: { summary: 'The developer sent a test', body: eventOf('TestEvent', 'test', {}) },
} as const satisfies Record<WebhookType, unknown>;

/** Any event. */
const webhookEventJson = z
  .union([
    WEBHOOK_BODIES['grant.revoked'].body,
    WEBHOOK_BODIES['grant.expired'].body,
    WEBHOOK_BODIES['grant.narrowed'].body,
    WEBHOOK_BODIES['grant.deletion_requested'].body,
    WEBHOOK_BODIES['data.updated'].body,
    WEBHOOK_BODIES.test.body,
  ])
  .meta({ id: 'WebhookEvent' });

/** Body of an endpoint. Consent checks the URL. */
const webhookBody = z.strictObject({
  url: z.string('must be a text').meta({
    description: 'https, without user name, password and fragment; its host has public addresses only.',
  }),
  events: z
    .array(z.enum(WEBHOOK_EVENTS, `must be one of ${WEBHOOK_EVENTS.join(', ')}`), 'must be a list of events')
    .min(1, 'must name at least one'),
});

const DELIVERIES_QUERY = {
  state: z.enum(WEBHOOK_STATES).meta({ description: 'Only events in this state.' }),
};

// In TypeScript these are texts, as in the messages of the services.
const eventType = z.enum([...WEBHOOK_EVENTS, 'test']) as unknown as z.ZodType<string>;
const state = z.enum(WEBHOOK_STATES) as unknown as z.ZodType<string>;
const failureOrNull = z.enum(WEBHOOK_FAILURES).nullable() as unknown as z.ZodType<string | null>;
const disabledOrNull = z.enum(WEBHOOK_DISABLED).nullable().meta({
  description:
    '`gone`: the receiver answered 410. Set the URL again to enable the endpoint. `paused`: an operator of the service has paused it; events wait until it is resumed.',
}) as unknown as z.ZodType<string | null>;

const overlap = `must be a whole number from 0 to ${SECRET_OVERLAP_MAX_SECONDS}`;

const rotationBody = z.strictObject({
  overlapSeconds: z
    .int(overlap)
    .min(0, overlap)
    .max(SECRET_OVERLAP_MAX_SECONDS, overlap)
    .optional()
    .meta({ description: 'For so long the secret before works as well; 0 if absent.' }),
});

const webhookJson = z
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

const newWebhookJson = webhookJson.extend({ secret }).meta({ id: 'NewWebhook' });

const sentEventJson = z.object({ id: text.meta({ description: 'Of the event: `webhook-id`.' }) });

const deliveryJson = z
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

function toWebhookJson(webhook: Webhook): z.infer<typeof webhookJson> {
  return toJson(webhookJson, webhook);
}

function toDeliveryJson(delivery: Delivery): z.infer<typeof deliveryJson> {
  const attempts = delivery.attempts.map((attempt) => ({ ...attempt, status: attempt.status || null }));
  return toJson(deliveryJson, { ...delivery, attempts, body: JSON.parse(delivery.body) });
}

const webhooksOf = ({ gateway }: Exchange) => gateway.backends.webhooks;
const appOf = (exchange: Exchange) => ({ clientId: pathParameter(exchange, 'clientId') });

const path = '/developer/apps/:clientId/webhook';

/** Everything under `/developer/apps/:clientId/webhook`. Without an endpoint all but PUT and DELETE answer NOT_FOUND. */
export const WEBHOOK_OPERATIONS: readonly MountedOperation[] = [
  jsonOperation({
    method: 'GET',
    path,
    operationId: 'getWebhook',
    summary: 'Read the webhook endpoint of an app',
    answer: { description: 'The endpoint.', body: dataOf(webhookJson) },
    handle: async ({ backends, caller, clientId }) => {
      const { webhook } = await backends.webhooks.getWebhook({ clientId }, caller);
      return { data: toWebhookJson(required(webhook)) };
    },
  }),
  sessionOperation({
    method: 'PUT',
    path,
    operationId: 'putWebhook',
    summary: 'Set the webhook endpoint of an app',
    description: 'Creates the endpoint, or replaces its URL and events and enables it. It keeps its secret.',
    body: { schema: webhookBody },
    answers: {
      200: { description: 'The changed endpoint.', body: dataOf(webhookJson) },
      201: { description: 'The new endpoint with its secret.', body: dataOf(newWebhookJson) },
    },
    handle: putWebhook,
  }),
  sessionOperation({
    method: 'DELETE',
    path,
    operationId: 'deleteWebhook',
    summary: 'Remove the webhook endpoint of an app',
    description: 'Also what was not delivered yet, and the log. Idempotent.',
    answers: { 204: { description: 'There is no endpoint any more.' } },
    handle: async (exchange) => {
      await webhooksOf(exchange).deleteWebhook(appOf(exchange), onBehalf(exchange));
      send(exchange.response, 204, {}, '');
    },
  }),
  jsonOperation({
    method: 'POST',
    path: `${path}/rotate-secret`,
    operationId: 'rotateWebhookSecret',
    summary: 'Replace the secret of the webhook endpoint',
    description: 'During the overlap every event has the signatures of both secrets.',
    securityEvent: 'rotation',
    cost: 30,
    body: { schema: rotationBody, optional: true },
    answer: { description: 'The endpoint with the new secret.', body: dataOf(newWebhookJson) },
    handle: async ({ backends, caller, body: { overlapSeconds = 0 }, clientId }) => {
      const request = { clientId, overlapSeconds };
      const rotated = await backends.webhooks.rotateWebhookSecret(request, caller);
      return { data: { ...toWebhookJson(required(rotated.webhook)), secret: rotated.secret } };
    },
  }),
  jsonOperation({
    method: 'POST',
    path: `${path}/test`,
    operationId: 'sendTestEvent',
    summary: 'Send a test event',
    description: 'At most ten a minute. The event is sent after the answer.',
    status: 202,
    answer: { description: 'The id of the event.', body: dataOf(sentEventJson) },
    handle: async ({ backends, caller, clientId }) => {
      const { eventId } = await backends.webhooks.sendTestEvent({ clientId }, caller);
      return { data: { id: eventId } };
    },
  }),
  jsonOperation({
    method: 'GET',
    path: `${path}/deliveries`,
    operationId: 'listDeliveries',
    summary: 'List events and the attempts to deliver them',
    query: { ...PAGE_QUERY, ...DELIVERIES_QUERY },
    answer: { description: 'The events, newest first.', body: listOf(deliveryJson) },
    handle: async ({ backends, caller, query, clientId }) => {
      const wanted = findChoice(query, 'state', WEBHOOK_STATES) ?? '';
      query.check();
      const { deliveries, total } = await backends.webhooks.listDeliveries(
        { clientId, page: query.page, state: wanted },
        caller,
      );
      return toList(deliveries.map(toDeliveryJson), query.page, total);
    },
  }),
  jsonOperation({
    method: 'POST',
    path: `${path}/deliveries/:id/redeliver`,
    operationId: 'redeliverEvent',
    summary: 'Deliver an event again',
    description: 'With the same id, after the pending events of its grant. A pending event is due at once.',
    cost: 30,
    status: 202,
    answer: { description: 'The id of the event.', body: dataOf(sentEventJson) },
    handle: async ({ backends, caller, clientId, id }) => {
      await backends.webhooks.redeliverEvent({ clientId, eventId: id }, caller);
      return { data: { id } };
    },
  }),
];

/** Answers 201 with the secret when the endpoint is new. */
async function putWebhook(exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange, { schema: webhookBody });
  const request = { ...appOf(exchange), ...body };
  const { webhook, secret: created } = await webhooksOf(exchange).putWebhook(request, onBehalf(exchange));
  const data = toWebhookJson(required(webhook));
  if (created === '') sendJson(exchange.response, 200, { data });
  else sendJson(exchange.response, 201, { data: { ...data, secret: created } });
}
