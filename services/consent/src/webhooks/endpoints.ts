import { SECRET_OVERLAP_MAX_SECONDS } from '@phds/catalog/lifetimes';
import { type Listed, offsetOf, type Page, toPage } from '@phds/catalog/pagination';
import { WEBHOOK_EVENTS, WEBHOOK_STATES, type WebhookEvent, type WebhookState } from '@phds/catalog/webhooks';
import {
  type Delivery,
  type DeliveryAttempt,
  DeliverySchema,
  type Webhook,
  WebhookSchema,
  WebhookService,
} from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { queryCount, queryRows, readStatement, runStatement, transact } from '@phds/service-kit/postgres/sql';
import type { RpcContext, UserOf } from '@phds/service-kit/rpc/context';
import { type Row, toMessage } from '@phds/service-kit/rpc/messages';
import { implement } from '@phds/service-kit/rpc/service';
import type pg from 'pg';
import { type OwnedApp, requireOwnApp } from '../apps.ts';
import { parseKnownId, parseName, parseText } from '../parameters.ts';
import { type EventRow, type LiveScopes, limitUndelivered, toEvent, toEventBody } from './event.ts';
import type { WebhookSecrets } from './secrets.ts';
import type { EventPoster } from './sender.ts';

const TESTS_PER_MINUTE = 10;
const LONGEST_URL = 2_048;
const MAX_EVENTS = 32;
const GATEWAY = ['gateway'];

const FIND = readStatement(new URL('../store/sql/find-webhook.sql', import.meta.url));
const PUT = readStatement(new URL('../store/sql/put-webhook.sql', import.meta.url));
const DELETE = readStatement(new URL('../store/sql/delete-webhook.sql', import.meta.url));
const ROTATE = readStatement(new URL('../store/sql/rotate-webhook-secret.sql', import.meta.url));
const LOCK = readStatement(new URL('../store/sql/lock-webhook.sql', import.meta.url));
const ADD_TEST = readStatement(new URL('../store/sql/add-test-event.sql', import.meta.url));
const REDELIVER = readStatement(new URL('../store/sql/redeliver-event.sql', import.meta.url));
const LIST_DELIVERIES = readStatement(new URL('../store/sql/list-deliveries.sql', import.meta.url));
const COUNT_DELIVERIES = readStatement(new URL('../store/sql/count-deliveries.sql', import.meta.url));
const LIST_ATTEMPTS = readStatement(new URL('../store/sql/list-attempts.sql', import.meta.url));

interface Endpoint extends Row<Webhook> {
  readonly id: string;
  readonly secretVersion: number;
}

/** What is sent to endpoints, and where. */
export interface EndpointParts {
  readonly pool: pg.Pool;
  readonly secrets: Pick<WebhookSecrets, 'secretOf'>;
  readonly poster: Pick<EventPoster, 'mayRequest'>;
  /** For the local stack: http and loopback addresses. */
  readonly allowLoopback: boolean;
}

/**
 * phds.consent.v1.WebhookService: the webhooks of an app, for its developer, with endpoints in table `webhook_endpoint` and events in
 * `webhook_event`. An unknown app, somebody else's and one without an endpoint are `not_found`.
 */
export function createWebhookService({ userOf, ...parts }: EndpointParts & { readonly userOf: UserOf }) {
  const { pool } = parts;
  const ownApp = async (request: { readonly clientId: string }, context: RpcContext): Promise<OwnedApp> => {
    const ownerId = await userOf(context);
    return { clientId: parseName('clientId', request.clientId), ownerId };
  };
  return implement(
    WebhookService,
    {
      async getWebhook(request, context) {
        return { webhook: toMessage(WebhookSchema, await getEndpoint(pool, await ownApp(request, context))) };
      },
      async putWebhook(request, context) {
        const app = await ownApp(request, context);
        const url = parseName('url', request.url, LONGEST_URL);
        const events = request.events.slice(0, MAX_EVENTS).map((event) => parseText('events', event, 64));
        const { endpoint, secret } = await putEndpoint(parts, app, url, events);
        return { webhook: toMessage(WebhookSchema, endpoint), secret };
      },
      async deleteWebhook(request, context) {
        const app = await ownApp(request, context);
        await requireOwnApp(pool, app);
        await runStatement(pool, DELETE, app.clientId);
        return {};
      },
      async rotateWebhookSecret(request, context) {
        const endpoint = await rotate(pool, await ownApp(request, context), request.overlapSeconds);
        const secret = parts.secrets.secretOf(endpoint.id, endpoint.secretVersion);
        return { webhook: toMessage(WebhookSchema, endpoint), secret };
      },
      async sendTestEvent(request, context) {
        const app = await ownApp(request, context);
        return { eventId: await transact(pool, (tx) => addTest(tx, app)) };
      },
      async listDeliveries(request, context) {
        const app = await ownApp(request, context);
        const state = findState(request.state);
        const endpoint = await getEndpoint(pool, app);
        const { items, total } = await listDeliveries(pool, endpoint.id, state, toPage(request.page));
        return { deliveries: items.map((item) => toMessage(DeliverySchema, item)), total };
      },
      async redeliverEvent(request, context) {
        await redeliver(pool, await ownApp(request, context), parseKnownId('evt', request.eventId));
        return {};
      },
    },
    {
      getWebhook: GATEWAY,
      putWebhook: GATEWAY,
      deleteWebhook: GATEWAY,
      rotateWebhookSecret: GATEWAY,
      sendTestEvent: GATEWAY,
      listDeliveries: GATEWAY,
      redeliverEvent: GATEWAY,
    },
  );
}

async function getEndpoint(pool: pg.Pool, app: OwnedApp): Promise<Endpoint> {
  const [endpoint] = await queryRows<Endpoint>(pool, FIND, app.clientId, app.ownerId);
  if (endpoint !== undefined) return endpoint;
  await requireOwnApp(pool, app);
  return refuseMissing();
}

/**
 * Creates the endpoint, and returns the secret that signs what is sent to it; or changes and enables the existing one, which keeps id and
 * secret. Throws `invalid_request` for a URL that is never requested, or unknown events.
 */
async function putEndpoint(parts: EndpointParts, app: OwnedApp, text: string, names: readonly string[]) {
  const { pool, secrets, poster, allowLoopback } = parts;
  const url = parseEndpointUrl(text, { allowLoopback });
  if (!poster.mayRequest(url)) throw invalidRequest('url', 'must not name a private or reserved address');
  const [events, id] = [parseEndpointEvents(names), newId('whe')];
  const [endpoint] = await queryRows<Endpoint>(pool, PUT, app.clientId, app.ownerId, id, url, events);
  if (endpoint === undefined) throw notFound();
  return { endpoint, secret: endpoint.id === id ? secrets.secretOf(id, endpoint.secretVersion) : '' };
}

/** Refuses URLs that no event is sent to; the addresses of its host are checked before each request. Returns the URL as it is requested. */
export function parseEndpointUrl(
  text: string,
  { allowLoopback }: { readonly allowLoopback: boolean },
): string {
  const url = text.length > LONGEST_URL ? null : URL.parse(text);
  if (url === null) throw invalidRequest('url', `must be a URL of at most ${LONGEST_URL} characters`);
  if (url.protocol !== 'https:' && !(allowLoopback && url.protocol === 'http:')) {
    throw invalidRequest('url', 'must begin with https://');
  }
  if (url.username !== '' || url.password !== '') {
    throw invalidRequest('url', 'must not contain a user name or a password');
  }
  if (url.hash !== '') throw invalidRequest('url', 'must not contain a fragment (#)');
  return url.href;
}

/** The chosen events, once each in the order of the catalog. */
function parseEndpointEvents(names: readonly string[]): WebhookEvent[] {
  const unknown = names.filter((name) => !(WEBHOOK_EVENTS as readonly string[]).includes(name));
  if (unknown.length > 0) {
    throw invalidRequest('events', `unknown: ${unknown.join(', ')}; there are ${WEBHOOK_EVENTS.join(', ')}`);
  }
  if (names.length === 0) throw invalidRequest('events', 'must name at least one');
  return WEBHOOK_EVENTS.filter((event) => names.includes(event));
}

function parseOverlap(seconds: number): number {
  if (seconds <= SECRET_OVERLAP_MAX_SECONDS) return seconds;
  throw invalidRequest('overlapSeconds', `must be 0 to ${SECRET_OVERLAP_MAX_SECONDS}`);
}

/** Makes the next secret the current one; the one before signs as well for so many seconds. */
async function rotate(pool: pg.Pool, { clientId, ownerId }: OwnedApp, overlap: number): Promise<Endpoint> {
  const [endpoint] = await queryRows<Endpoint>(pool, ROTATE, clientId, ownerId, parseOverlap(overlap));
  return endpoint ?? refuseMissing();
}

/** Throws `not_found`. */
export function refuseMissing(): never {
  throw notFound('The app has no webhook endpoint.');
}

async function addTest(tx: pg.ClientBase, { clientId, ownerId }: OwnedApp): Promise<string> {
  const [endpoint] = await queryRows<{ id: string }>(tx, LOCK, clientId, ownerId);
  if (endpoint === undefined) return refuseMissing();
  const [added] = await queryRows<{ id: string }>(tx, ADD_TEST, endpoint.id, TESTS_PER_MINUTE);
  if (added !== undefined) return added.id;
  throw new AppError('rate_limited', `At most ${TESTS_PER_MINUTE} tests a minute are sent.`, {
    retryAfterSeconds: 60,
  });
}

async function redeliver(pool: pg.Pool, { clientId, ownerId }: OwnedApp, eventId: string): Promise<void> {
  if ((await runStatement(pool, REDELIVER, clientId, ownerId, eventId)) === 0) throw notFound();
}

/** Null when empty. */
function findState(text: string): WebhookState | null {
  if (text === '') return null;
  const state = WEBHOOK_STATES.find((each) => each === text);
  if (state === undefined) throw invalidRequest('state', `must be one of ${WEBHOOK_STATES.join(', ')}`);
  return state;
}

interface DeliveryRow extends EventRow, Pick<Row<Delivery>, 'nextAttemptAt'> {
  readonly state: WebhookState;
  readonly liveScopes: LiveScopes;
}

/** Attempts of an event that the log shows. */
const SHOWN_ATTEMPTS = 20;

/** Newest first. Of each the newest attempts. */
async function listDeliveries(
  pool: pg.Pool,
  endpointId: string,
  state: WebhookState | null,
  page: Page,
): Promise<Listed<Row<Delivery>>> {
  const [rows, total] = await Promise.all([
    queryRows<DeliveryRow>(pool, LIST_DELIVERIES, endpointId, state, page.pageSize, offsetOf(page)),
    queryCount(pool, COUNT_DELIVERIES, endpointId, state),
  ]);
  const ids = rows.map(({ id }) => id);
  const attempts = await queryRows<Row<DeliveryAttempt> & { eventId: string }>(
    pool,
    LIST_ATTEMPTS,
    ids,
    SHOWN_ATTEMPTS,
  );
  const byEvent = Map.groupBy(attempts, ({ eventId }) => eventId);
  const items = rows.map((row) => {
    const event = row.state === 'delivered' ? toEvent(row) : limitUndelivered(toEvent(row), row.liveScopes);
    return { ...row, body: toEventBody(event), attempts: byEvent.get(row.id) ?? [] };
  });
  return { items, total };
}
