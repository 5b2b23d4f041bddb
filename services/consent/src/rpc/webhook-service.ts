import { toPage } from '@phds/catalog/pagination';
import { WebhookService } from '@phds/contracts/phds/consent/v1/webhooks_pb';
import type { RpcContext, UserOf } from '@phds/service-kit/rpc/context';
import { implement } from '@phds/service-kit/rpc/service';
import type { Webhooks } from '../app/webhooks.ts';
import { parseKnownId, parseName, parseText } from './parameters.ts';
import { findState, toDeliveryMessage, toWebhookMessage } from './webhook-messages.ts';

const LONGEST_URL = 2_048;
const MAX_EVENTS = 32;

/** phds.consent.v1.WebhookService. */
export function createWebhookService({ webhooks, userOf }: { webhooks: Webhooks; userOf: UserOf }) {
  const ownApp = async (request: { readonly clientId: string }, context: RpcContext) => {
    const ownerId = await userOf(context);
    return { clientId: parseName('clientId', request.clientId), ownerId };
  };
  return implement(
    WebhookService,
    {
      async getWebhook(request, context) {
        return { webhook: toWebhookMessage(await webhooks.get(await ownApp(request, context))) };
      },
      async putWebhook(request, context) {
        const app = await ownApp(request, context);
        const url = parseName('url', request.url, LONGEST_URL);
        const events = request.events.slice(0, MAX_EVENTS).map((event) => parseText('events', event, 64));
        const { endpoint, secret } = await webhooks.put(app, { url, events });
        return { webhook: toWebhookMessage(endpoint), secret: secret ?? '' };
      },
      async deleteWebhook(request, context) {
        await webhooks.remove(await ownApp(request, context));
        return {};
      },
      async rotateWebhookSecret(request, context) {
        const app = await ownApp(request, context);
        const { endpoint, secret } = await webhooks.rotate(app, request.overlapSeconds);
        return { webhook: toWebhookMessage(endpoint), secret };
      },
      async sendTestEvent(request, context) {
        return { eventId: await webhooks.sendTest(await ownApp(request, context)) };
      },
      async listDeliveries(request, context) {
        const app = await ownApp(request, context);
        const { items, total } = await webhooks.listDeliveries(
          app,
          findState(request.state),
          toPage(request.page),
        );
        return { deliveries: items.map(toDeliveryMessage), total };
      },
      async redeliverEvent(request, context) {
        await webhooks.redeliver(await ownApp(request, context), parseKnownId('evt', request.eventId));
        return {};
      },
    },
    {
      getWebhook: ['gateway'],
      putWebhook: ['gateway'],
      deleteWebhook: ['gateway'],
      rotateWebhookSecret: ['gateway'],
      sendTestEvent: ['gateway'],
      listDeliveries: ['gateway'],
      redeliverEvent: ['gateway'],
    },
  );
}
