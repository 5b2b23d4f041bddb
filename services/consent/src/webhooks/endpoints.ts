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
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type { RpcContext, UserOf } from '@phds/service-kit/rpc/context';
import { type Row, toMessage } from '@phds/service-kit/rpc/rows';
import { implement } from '@phds/service-kit/rpc/service';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import { GRANT_FROM, LIVE } from '../grant-rows.ts';
import { parseKnownId, parseName, parseText } from '../parameters.ts';
import { type EventRow, type LiveScopes, limitUndelivered, toEvent, toEventBody } from './event.ts';
import type { WebhookSecrets } from './secrets.ts';
import type { EventPoster } from './sender.ts';

const TESTS_PER_MINUTE = 10;
const LONGEST_URL = 2_048;
const MAX_EVENTS = 32;
const GATEWAY = ['gateway'];

/** An app and the developer who asks. Somebody else's app is treated as unknown. */
interface OwnedApp {
  readonly clientId: string;
  readonly ownerId: string;
}

/** The columns of `webhook_endpoint` w for the message. The client id of an endpoint of the deployment is its id. */
export const WEBHOOK_COLUMNS = sql`coalesce(w.client_id, w.id) AS "clientId", w.url, w.events,
  CASE WHEN w.previous_secret_until > statement_timestamp() THEN w.previous_secret_until END AS "previousSecretExpiresAt",
  coalesce(w.disabled_reason, CASE WHEN w.paused_at IS NOT NULL THEN 'paused' END) AS "disabledReason",
  w.failing_since AS "failingSince", w.created_at AS "createdAt", w.updated_at AS "updatedAt"`;

const ENDPOINT_COLUMNS = sql`w.id, w.secret_version AS "secretVersion", ${WEBHOOK_COLUMNS}`;

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
        await requireKnown(pool, app);
        // Its events are not sent any more, because no endpoint has their id. They are pruned by their age.
        await execute(pool)`DELETE FROM webhook_endpoint WHERE client_id = ${app.clientId}`;
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
  const [endpoint] = await select<Endpoint>(pool)`
    SELECT ${ENDPOINT_COLUMNS} FROM webhook_endpoint w JOIN app a ON a.client_id = w.client_id WHERE ${isOwn(app)}`;
  if (endpoint !== undefined) return endpoint;
  await requireKnown(pool, app);
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
  const [endpoint] = await select<Endpoint>(pool)`
    INSERT INTO webhook_endpoint AS w (id, client_id, url, events)
    SELECT ${id}, a.client_id, ${url}, ${events}::text[] FROM app a WHERE ${isOwn(app)}
    ON CONFLICT (client_id) DO UPDATE SET url = excluded.url, events = excluded.events, disabled_reason = NULL,
      failures = 0, failing_since = NULL, retry_at = NULL, updated_at = statement_timestamp()
    RETURNING ${ENDPOINT_COLUMNS}`;
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
async function rotate(pool: pg.Pool, app: OwnedApp, overlap: number): Promise<Endpoint> {
  const overlapSeconds = parseOverlap(overlap);
  const [endpoint] = await select<Endpoint>(pool)`
    UPDATE webhook_endpoint w SET secret_version = w.secret_version + 1, updated_at = statement_timestamp(),
      previous_secret_until = CASE WHEN ${overlapSeconds}::int > 0
        THEN statement_timestamp() + make_interval(secs => ${overlapSeconds}::int) END
    FROM app a WHERE a.client_id = w.client_id AND ${isOwn(app)}
    RETURNING ${ENDPOINT_COLUMNS}`;
  return endpoint ?? refuseMissing();
}

/** Throws `not_found`. */
export function refuseMissing(): never {
  throw notFound('The app has no webhook endpoint.');
}

function isOwn({ clientId, ownerId }: OwnedApp): Sql {
  return sql`a.client_id = ${clientId} AND a.owner_id = ${ownerId}`;
}

async function requireKnown(pool: pg.Pool, app: OwnedApp): Promise<void> {
  if ((await execute(pool)`SELECT FROM app a WHERE ${isOwn(app)}`) === 0) throw notFound();
}

async function addTest(tx: pg.ClientBase, app: OwnedApp): Promise<string> {
  // The lock serialises the tests of an endpoint, so that their number is exact.
  const [endpoint] = await select<{ id: string }>(tx)`
    SELECT w.id FROM webhook_endpoint w JOIN app a ON a.client_id = w.client_id WHERE ${isOwn(app)}
    FOR NO KEY UPDATE OF w`;
  if (endpoint === undefined) return refuseMissing();
  const [counted] = await select<{ tests: number }>(tx)`
    SELECT count(*)::int AS tests FROM webhook_event
    WHERE endpoint_id = ${endpoint.id} AND type = 'test' AND created_at > statement_timestamp() - interval '1 minute'`;
  if (counted === undefined || counted.tests >= TESTS_PER_MINUTE) {
    throw new AppError('rate_limited', `At most ${TESTS_PER_MINUTE} tests a minute are sent.`, {
      retryAfterSeconds: 60,
    });
  }
  const [added] = await select<{ id: string }>(tx)`
    INSERT INTO webhook_event (endpoint_id, type) VALUES (${endpoint.id}, 'test') RETURNING id`;
  return added?.id ?? refuseMissing();
}

/**
 * With a new number, so that it neither overtakes nor delays the pending events of its grant. It counts as sent before, so that no change
 * is added to it: the receiver may know its id already. An attempt in progress goes on.
 */
async function redeliver(pool: pg.Pool, app: OwnedApp, eventId: string): Promise<void> {
  const redelivered = await execute(pool)`
    UPDATE webhook_event e SET
      number = CASE WHEN e.state = 'pending' THEN e.number ELSE nextval(pg_get_serial_sequence('webhook_event', 'number')) END,
      state = 'pending', attempts = greatest(1, CASE WHEN e.state = 'pending' THEN e.attempts ELSE 1 END),
      next_attempt_at = CASE WHEN e.lease IS NULL THEN statement_timestamp() ELSE e.next_attempt_at END,
      started_at = CASE WHEN e.state = 'pending' THEN e.started_at ELSE statement_timestamp() END
    FROM webhook_endpoint w JOIN app a ON a.client_id = w.client_id
    WHERE e.id = ${eventId} AND e.endpoint_id = w.id AND ${isOwn(app)}`;
  if (redelivered === 0) throw notFound();
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
  const where = sql`v.endpoint_id = ${endpointId} AND (${state}::text IS NULL OR v.state = ${state}::text)`;
  const [rows, counted] = await Promise.all([
    select<DeliveryRow>(pool)`
      SELECT v.id, v.type, v.created_at AS "createdAt", v.grant_id AS "grantId", v.sub_hash AS "subHash", v.content, v.state,
        v.next_attempt_at AS "nextAttemptAt", CASE WHEN v.type = 'data.updated' THEN (
          SELECT g.scopes FROM ${GRANT_FROM} WHERE g.id = v.grant_id AND ${LIVE}) END AS "liveScopes"
      FROM webhook_event v
      WHERE ${where} ORDER BY v.number DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}`,
    select<{ total: number }>(pool)`SELECT count(*)::int AS total FROM webhook_event v WHERE ${where}`,
  ]);
  const ids = rows.map(({ id }) => id);
  const attempts = await select<Row<DeliveryAttempt> & { eventId: string }>(pool)`
    SELECT t.event_id AS "eventId", t.at, t.status, t.failure, t.ms FROM unnest(${ids}::text[]) AS listed(id)
    CROSS JOIN LATERAL (
      SELECT * FROM webhook_attempt WHERE event_id = listed.id ORDER BY at DESC, id DESC LIMIT ${SHOWN_ATTEMPTS}
    ) t
    ORDER BY t.at, t.id`;
  const byEvent = Map.groupBy(attempts, ({ eventId }) => eventId);
  const items = rows.map((row) => {
    const event = row.state === 'delivered' ? toEvent(row) : limitUndelivered(toEvent(row), row.liveScopes);
    return { ...row, body: toEventBody(event), attempts: byEvent.get(row.id) ?? [] };
  });
  return { items, total: counted[0]?.total ?? 0 };
}
