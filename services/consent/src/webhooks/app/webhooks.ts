import type { Listed, Page } from '@phds/catalog/pagination';
import type { WebhookState } from '@phds/catalog/webhooks';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import {
  parseEndpointEvents,
  parseEndpointUrl,
  parseOverlap,
  type WebhookEndpoint,
} from '../domain/endpoint.ts';
import type { WebhookDelivery } from '../domain/event.ts';
import type { EventPoster, OwnedApp, WebhookEndpointStore, WebhookSecrets } from './ports.ts';

const TESTS_PER_MINUTE = 10;

/** An endpoint and, when it is new, the secret that signs what is sent to it. */
export interface ConfiguredEndpoint {
  readonly endpoint: WebhookEndpoint;
  readonly secret: string | null;
}

/** The webhooks of an app, for its developer. An unknown app, somebody else's and one without an endpoint are `not_found`. */
export interface Webhooks {
  get(app: OwnedApp): Promise<WebhookEndpoint>;
  /** Creates or replaces the endpoint. Throws `invalid_request` for a URL that is never requested, or unknown events. */
  put(app: OwnedApp, settings: { url: string; events: readonly string[] }): Promise<ConfiguredEndpoint>;
  /** Nothing more is sent once an attempt in progress has ended. Also without an endpoint. */
  remove(app: OwnedApp): Promise<void>;
  rotate(
    app: OwnedApp,
    overlapSeconds: number,
  ): Promise<{ readonly endpoint: WebhookEndpoint; readonly secret: string }>;
  /** Sends a test; returns its id. Throws `rate_limited`. */
  sendTest(app: OwnedApp): Promise<string>;
  listDeliveries(app: OwnedApp, state: WebhookState | null, page: Page): Promise<Listed<WebhookDelivery>>;
  redeliver(app: OwnedApp, eventId: string): Promise<void>;
}

export function createWebhooks(dependencies: {
  readonly endpoints: WebhookEndpointStore;
  readonly secrets: Pick<WebhookSecrets, 'secretOf'>;
  readonly poster: Pick<EventPoster, 'mayRequest'>;
  /** For the local stack: http and loopback addresses. */
  readonly allowLoopback: boolean;
}): Webhooks {
  const { endpoints, secrets, poster, allowLoopback } = dependencies;
  return {
    async get(app) {
      const endpoint = await endpoints.find(app);
      if (endpoint === 'unknown') throw notFound();
      return endpoint ?? refuseMissing();
    },
    async put(app, settings) {
      const url = parseEndpointUrl(settings.url, { allowLoopback });
      if (!poster.mayRequest(url)) throw invalidRequest('url', 'must not name a private or reserved address');
      const events = parseEndpointEvents(settings.events);
      const stored = await endpoints.put(app, { url, events, newId: newId('whe') });
      if (stored === null) throw notFound();
      const { endpoint, isNew } = stored;
      return { endpoint, secret: isNew ? secrets.secretOf(endpoint.id, endpoint.secretVersion) : null };
    },
    async remove(app) {
      if ((await endpoints.remove(app)) === null) throw notFound();
    },
    async rotate(app, overlapSeconds) {
      const endpoint = (await endpoints.rotate(app, parseOverlap(overlapSeconds))) ?? refuseMissing();
      return { endpoint, secret: secrets.secretOf(endpoint.id, endpoint.secretVersion) };
    },
    sendTest: async (app) => (await endpoints.addTest(app, refuseTooManyTests)) ?? refuseMissing(),
    listDeliveries: async (app, state, page) =>
      (await endpoints.listDeliveries(app, state, page)) ?? refuseMissing(),
    async redeliver(app, eventId) {
      if (!(await endpoints.redeliver(app, eventId))) throw notFound();
    },
  };
}

/** Throws `not_found`. */
export function refuseMissing(): never {
  throw notFound('The app has no webhook endpoint.');
}

function refuseTooManyTests(testsInLastMinute: number): void {
  if (testsInLastMinute < TESTS_PER_MINUTE) return;
  throw new AppError('rate_limited', `At most ${TESTS_PER_MINUTE} tests a minute are sent.`, {
    retryAfterSeconds: 60,
  });
}
