import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { isCategory } from '@phds/catalog/categories';
import { toPage } from '@phds/catalog/pagination';
import { WEBHOOK_STATES, type WebhookState } from '@phds/catalog/webhooks';
import {
  type DataChange as DataChangeMessage,
  EventService,
} from '@phds/contracts/phds/consent/v1/events_pb';
import {
  type DeliverySchema,
  WebhookOperatorService,
  type WebhookSchema,
  WebhookService,
} from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { invalidRequest } from '@phds/service-kit/errors';
import { parseUserId } from '@phds/service-kit/ids';
import type { RpcContext, UserOf } from '@phds/service-kit/rpc/context';
import { implement } from '@phds/service-kit/rpc/service';
import { OPERATORS, VIEWERS } from '@phds/service-kit/trust/callers';
import { parseKnownId, parseMoment, parseName, parseText } from '../../rpc/parameters.ts';
import type { WebhookEndpoint } from '../domain/endpoint.ts';
import { toEventBody, type WebhookDelivery } from '../domain/event.ts';
import type { Webhooks } from '../endpoints.ts';
import type { DataChange } from '../events.ts';
import type { OperatedWebhooks } from '../operated.ts';

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

/** phds.consent.v1.WebhookOperatorService. */
export function createWebhookOperatorService(operated: OperatedWebhooks) {
  return implement(
    WebhookOperatorService,
    {
      async listWebhooks({ page }) {
        const { items, total } = await operated.list(toPage(page));
        const webhooks = items.map(({ appName, pending, failed, pausedAt, ...endpoint }) => ({
          webhook: toWebhookMessage(endpoint),
          appName,
          pending,
          failed,
          ...(pausedAt !== null && { pausedAt: timestampFromDate(pausedAt) }),
        }));
        return { webhooks, total };
      },
      async setWebhookPaused({ clientId, paused }) {
        await operated.pause(parseName('clientId', clientId), paused);
        return {};
      },
      async redeliverEvents({ clientId, since, deliveredToo }) {
        const states = deliveredToo ? (['failed', 'delivered'] as const) : (['failed'] as const);
        const from = parseMoment('since', since);
        return { events: await operated.redeliverSince(parseName('clientId', clientId), from, states) };
      },
    },
    { listWebhooks: VIEWERS, setWebhookPaused: OPERATORS, redeliverEvents: OPERATORS },
  );
}

function toWebhookMessage(endpoint: WebhookEndpoint): MessageInitShape<typeof WebhookSchema> {
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

function toDeliveryMessage(delivery: WebhookDelivery): MessageInitShape<typeof DeliverySchema> {
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
function findState(text: string): WebhookState | null {
  if (text === '') return null;
  const state = WEBHOOK_STATES.find((each) => each === text);
  if (state === undefined) throw invalidRequest('state', `must be one of ${WEBHOOK_STATES.join(', ')}`);
  return state;
}

const LARGEST_REPORT = 1_000;

/** phds.consent.v1.EventService. */
export function createEventService(addChanges: (changes: readonly DataChange[]) => Promise<void>) {
  return implement(
    EventService,
    {
      async reportDataChanges(request) {
        if (request.changes.length > LARGEST_REPORT) {
          throw invalidRequest('changes', `at most ${LARGEST_REPORT} at once`);
        }
        await addChanges(request.changes.map(parseChange));
        return {};
      },
    },
    { reportDataChanges: ['health-data'] },
  );
}

function parseChange({ userId, category, at, latestReadingAt }: DataChangeMessage): DataChange {
  if (!isCategory(category)) throw invalidRequest('category', 'is not a category');
  return {
    userId: parseUserId(userId),
    category,
    at: parseMoment('at', at),
    latestReadingAt: parseMoment('latestReadingAt', latestReadingAt),
  };
}
