import { dataOf, listOf, PAGE_QUERY } from '../openapi/fields.ts';
import type { Operation } from '../openapi/operation.ts';
import { sessionOperation } from '../openapi/operation-kinds.ts';
import { rotationBody } from './app-body.ts';
import {
  DELIVERIES_QUERY,
  deliveryJson,
  newWebhookJson,
  sentEventJson,
  webhookBody,
  webhookJson,
} from './webhook-json.ts';

const tag = 'Apps';
const path = '/developer/apps/:clientId/webhook';

/** Everything under `/developer/apps/:clientId/webhook`. Without an endpoint all but PUT and DELETE answer NOT_FOUND. */
export const WEBHOOK_OPERATIONS: readonly Operation[] = [
  sessionOperation({
    method: 'GET',
    path,
    operationId: 'getWebhook',
    tag,
    summary: 'Read the webhook endpoint of an app',
    answers: { 200: { description: 'The endpoint.', body: dataOf(webhookJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'PUT',
    path,
    operationId: 'putWebhook',
    tag,
    summary: 'Set the webhook endpoint of an app',
    description: 'Creates the endpoint, or replaces its URL and events and enables it. It keeps its secret.',
    body: { schema: webhookBody },
    answers: {
      200: { description: 'The changed endpoint.', body: dataOf(webhookJson) },
      201: { description: 'The new endpoint with its secret.', body: dataOf(newWebhookJson) },
    },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'DELETE',
    path,
    operationId: 'deleteWebhook',
    tag,
    summary: 'Remove the webhook endpoint of an app',
    description: 'Also what was not delivered yet, and the log. Idempotent.',
    answers: { 204: { description: 'There is no endpoint any more.' } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'POST',
    path: `${path}/rotate-secret`,
    operationId: 'rotateWebhookSecret',
    tag,
    summary: 'Replace the secret of the webhook endpoint',
    description: 'During the overlap every event has the signatures of both secrets.',
    body: { schema: rotationBody, optional: true },
    answers: { 200: { description: 'The endpoint with the new secret.', body: dataOf(newWebhookJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'POST',
    path: `${path}/test`,
    operationId: 'sendTestEvent',
    tag,
    summary: 'Send a test event',
    description: 'At most ten a minute. The event is sent after the answer.',
    answers: { 202: { description: 'The id of the event.', body: dataOf(sentEventJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'GET',
    path: `${path}/deliveries`,
    operationId: 'listDeliveries',
    tag,
    summary: 'List events and the attempts to deliver them',
    query: { ...PAGE_QUERY, ...DELIVERIES_QUERY },
    answers: { 200: { description: 'The events, newest first.', body: listOf(deliveryJson) } },
    errors: ['NOT_FOUND'],
  }),
  sessionOperation({
    method: 'POST',
    path: `${path}/deliveries/:id/redeliver`,
    operationId: 'redeliverEvent',
    tag,
    summary: 'Deliver an event again',
    description: 'With the same id, after the pending events of its grant. A pending event is due at once.',
    answers: { 202: { description: 'The id of the event.', body: dataOf(sentEventJson) } },
    errors: ['NOT_FOUND'],
  }),
];
