import { WEBHOOK_STATES } from '@phds/catalog/webhooks';
import type { Webhook } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { AppError } from '@phds/service-kit/errors';
import { limitCostly } from '../allowance.ts';
import { type Exchange, onBehalf, userOf } from '../exchange.ts';
import type { Gateway } from '../gateway.ts';
import { readJsonBody } from '../json-body.ts';
import { findChoice, readListQuery, toList } from '../list-query.ts';
import { send, sendJson } from '../respond.ts';
import { pathParameter } from '../routing.ts';
import { rotationBody } from './app-body.ts';
import { DELIVERIES_QUERY, toDeliveryJson, toWebhookJson, webhookBody } from './webhook-json.ts';

/** `GET /developer/apps/:clientId/webhook` */
export async function getWebhook(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { webhook } = await gateway.backends.webhooks.getWebhook(appOf(exchange), onBehalf(exchange));
  sendJson(exchange.response, 200, { data: toWebhookJson(required(webhook)) });
}

/** `PUT /developer/apps/:clientId/webhook`: answers 201 with the secret when the endpoint is new. */
export async function putWebhook(gateway: Gateway, exchange: Exchange): Promise<void> {
  const body = await readJsonBody(exchange.request, webhookBody, toBodyLimit(gateway));
  const { webhook, secret } = await gateway.backends.webhooks.putWebhook(
    { ...appOf(exchange), ...body },
    onBehalf(exchange),
  );
  const data = toWebhookJson(required(webhook));
  if (secret === '') return sendJson(exchange.response, 200, { data });
  sendJson(exchange.response, 201, { data: { ...data, secret } });
}

/** `DELETE /developer/apps/:clientId/webhook` */
export async function deleteWebhook(gateway: Gateway, exchange: Exchange): Promise<void> {
  await gateway.backends.webhooks.deleteWebhook(appOf(exchange), onBehalf(exchange));
  send(exchange.response, 204, {}, '');
}

/** `POST /developer/apps/:clientId/webhook/rotate-secret` */
export async function rotateWebhookSecret(gateway: Gateway, exchange: Exchange): Promise<void> {
  await limitCostly(gateway, exchange, 'registrations', userOf(exchange));
  const options = { ...toBodyLimit(gateway), optional: true };
  const { overlapSeconds = 0 } = await readJsonBody(exchange.request, rotationBody, options);
  const { webhook, secret } = await gateway.backends.webhooks.rotateWebhookSecret(
    { ...appOf(exchange), overlapSeconds },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, { data: { ...toWebhookJson(required(webhook)), secret } });
}

/** `POST /developer/apps/:clientId/webhook/test`: answers before the event is sent. */
export async function sendTestEvent(gateway: Gateway, exchange: Exchange): Promise<void> {
  const { eventId } = await gateway.backends.webhooks.sendTestEvent(appOf(exchange), onBehalf(exchange));
  sendJson(exchange.response, 202, { data: { id: eventId } });
}

/** `GET /developer/apps/:clientId/webhook/deliveries` */
export async function listDeliveries(gateway: Gateway, exchange: Exchange): Promise<void> {
  const query = readListQuery(exchange.request.originalUrl, DELIVERIES_QUERY);
  const state = findChoice(query, 'state', WEBHOOK_STATES) ?? '';
  query.check();
  const { deliveries, total } = await gateway.backends.webhooks.listDeliveries(
    { ...appOf(exchange), page: query.page, state },
    onBehalf(exchange),
  );
  sendJson(exchange.response, 200, toList(deliveries.map(toDeliveryJson), query.page, total));
}

/** `POST /developer/apps/:clientId/webhook/deliveries/:id/redeliver`: answers before the event is sent. */
export async function redeliverEvent(gateway: Gateway, exchange: Exchange): Promise<void> {
  await limitCostly(gateway, exchange, 'registrations', userOf(exchange));
  const eventId = pathParameter(exchange, 'id');
  await gateway.backends.webhooks.redeliverEvent({ ...appOf(exchange), eventId }, onBehalf(exchange));
  sendJson(exchange.response, 202, { data: { id: eventId } });
}

function appOf(exchange: Exchange) {
  return { clientId: pathParameter(exchange, 'clientId') };
}

function toBodyLimit({ config }: Gateway) {
  return { maxBytes: config.MAX_BODY_BYTES };
}

function required(webhook: Webhook | undefined): Webhook {
  if (webhook === undefined) throw new AppError('internal', '', { cause: 'answer without an endpoint' });
  return webhook;
}
