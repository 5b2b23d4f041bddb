import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import type { WebhookState } from '@phds/catalog/webhooks';
import { AppError, invalidRequest, notFound } from '@phds/service-kit/errors';
import { newId } from '@phds/service-kit/ids';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import {
  parseEndpointEvents,
  parseEndpointUrl,
  parseOverlap,
  type WebhookEndpoint,
} from './domain/endpoint.ts';
import {
  type LiveScopes,
  limitUndelivered,
  type WebhookAttempt,
  type WebhookDelivery,
} from './domain/event.ts';
import { EVENT_COLUMNS, type EventRow, LIVE_SCOPES, toEvent } from './event-rows.ts';
import type { WebhookSecrets } from './secrets.ts';
import type { EventPoster } from './sender.ts';

const TESTS_PER_MINUTE = 10;

/** An app and the developer who asks. Somebody else's app is treated as unknown. */
export interface OwnedApp {
  readonly clientId: string;
  readonly ownerId: string;
}

/** The columns of a WebhookEndpoint, of `webhook_endpoint` w. */
export const COLUMNS = sql`w.id, coalesce(w.client_id, w.id) AS "clientId", w.url, w.events, w.secret_version AS "secretVersion",
  CASE WHEN w.previous_secret_until > statement_timestamp() THEN w.previous_secret_until END AS "previousSecretUntil",
  coalesce(w.disabled_reason, CASE WHEN w.paused_at IS NOT NULL THEN 'paused' END) AS "disabledReason", w.failing_since AS "failingSince", w.created_at AS "createdAt",
  w.updated_at AS "updatedAt"`;

export type Webhooks = ReturnType<typeof createWebhooks>;

/**
 * The webhooks of an app, for its developer: endpoints in table `webhook_endpoint`, events in `webhook_event`. An unknown app, somebody
 * else's and one without an endpoint are `not_found`.
 */
export function createWebhooks(parts: {
  readonly pool: pg.Pool;
  readonly secrets: Pick<WebhookSecrets, 'secretOf'>;
  readonly poster: Pick<EventPoster, 'mayRequest'>;
  /** For the local stack: http and loopback addresses. */
  readonly allowLoopback: boolean;
}) {
  const { pool, secrets, poster, allowLoopback } = parts;
  const get = async (app: OwnedApp): Promise<WebhookEndpoint> => {
    const [endpoint] = await select<WebhookEndpoint>(pool)`
      SELECT ${COLUMNS} FROM webhook_endpoint w JOIN app a ON a.client_id = w.client_id WHERE ${isOwn(app)}`;
    if (endpoint !== undefined) return endpoint;
    await requireKnown(pool, app);
    return refuseMissing();
  };
  return {
    get,
    /**
     * Creates the endpoint, and returns the secret that signs what is sent to it; or changes and enables the existing one, which keeps id and
     * secret. Throws `invalid_request` for a URL that is never requested, or unknown events.
     */
    async put(app: OwnedApp, settings: { url: string; events: readonly string[] }) {
      const url = parseEndpointUrl(settings.url, { allowLoopback });
      if (!poster.mayRequest(url)) throw invalidRequest('url', 'must not name a private or reserved address');
      const [events, id] = [parseEndpointEvents(settings.events), newId('whe')];
      const [endpoint] = await select<WebhookEndpoint>(pool)`
        INSERT INTO webhook_endpoint AS w (id, client_id, url, events)
        SELECT ${id}, a.client_id, ${url}, ${events}::text[] FROM app a WHERE ${isOwn(app)}
        ON CONFLICT (client_id) DO UPDATE SET url = excluded.url, events = excluded.events, disabled_reason = NULL,
          failures = 0, failing_since = NULL, retry_at = NULL, updated_at = statement_timestamp()
        RETURNING ${COLUMNS}`;
      if (endpoint === undefined) throw notFound();
      return { endpoint, secret: endpoint.id === id ? secrets.secretOf(id, endpoint.secretVersion) : null };
    },
    /** Nothing more is sent once an attempt in progress has ended. Also without an endpoint. */
    async remove(app: OwnedApp): Promise<void> {
      await requireKnown(pool, app);
      // Its events are not sent any more, because no endpoint has their id. They are pruned by their age.
      await execute(pool)`DELETE FROM webhook_endpoint WHERE client_id = ${app.clientId}`;
    },
    /** Makes the next secret the current one; the one before signs as well for so many seconds. */
    async rotate(app: OwnedApp, overlap: number) {
      const overlapSeconds = parseOverlap(overlap);
      const [endpoint] = await select<WebhookEndpoint>(pool)`
        UPDATE webhook_endpoint w SET secret_version = w.secret_version + 1, updated_at = statement_timestamp(),
          previous_secret_until = CASE WHEN ${overlapSeconds}::int > 0
            THEN statement_timestamp() + make_interval(secs => ${overlapSeconds}::int) END
        FROM app a WHERE a.client_id = w.client_id AND ${isOwn(app)}
        RETURNING ${COLUMNS}`;
      if (endpoint === undefined) return refuseMissing();
      return { endpoint, secret: secrets.secretOf(endpoint.id, endpoint.secretVersion) };
    },
    /** Sends a test; returns its id. Throws `rate_limited`. */
    sendTest: (app: OwnedApp) => transact(pool, (tx) => addTest(tx, app)),
    /** Newest first, of every state when `state` is null. */
    async listDeliveries(
      app: OwnedApp,
      state: WebhookState | null,
      page: Page,
    ): Promise<Listed<WebhookDelivery>> {
      return listDeliveries(pool, (await get(app)).id, state, page);
    },
    /** Makes an event of the app due now, as the last one of its grant. */
    redeliver: (app: OwnedApp, eventId: string) => redeliver(pool, app, eventId),
  };
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

type DeliveryRow = EventRow &
  Pick<WebhookDelivery, 'state' | 'nextAttemptAt'> & { readonly liveScopes: LiveScopes };

/** Attempts of an event that the log shows. */
const SHOWN_ATTEMPTS = 20;

/** Newest first. Of each the newest attempts. */
async function listDeliveries(
  pool: pg.Pool,
  endpointId: string,
  state: WebhookState | null,
  page: Page,
): Promise<Listed<WebhookDelivery>> {
  const where = sql`v.endpoint_id = ${endpointId} AND (${state}::text IS NULL OR v.state = ${state}::text)`;
  const [rows, counted] = await Promise.all([
    select<DeliveryRow>(pool)`
      SELECT ${EVENT_COLUMNS}, v.state, v.next_attempt_at AS "nextAttemptAt", ${LIVE_SCOPES} AS "liveScopes"
      FROM webhook_event v
      WHERE ${where} ORDER BY v.number DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}`,
    select<{ total: number }>(pool)`SELECT count(*)::int AS total FROM webhook_event v WHERE ${where}`,
  ]);
  const ids = rows.map(({ id }) => id);
  const attempts = await select<WebhookAttempt & { eventId: string }>(pool)`
    SELECT t.event_id AS "eventId", t.at, t.status, t.failure, t.ms FROM unnest(${ids}::text[]) AS listed(id)
    CROSS JOIN LATERAL (
      SELECT * FROM webhook_attempt WHERE event_id = listed.id ORDER BY at DESC, id DESC LIMIT ${SHOWN_ATTEMPTS}
    ) t
    ORDER BY t.at, t.id`;
  const byEvent = Map.groupBy(attempts, ({ eventId }) => eventId);
  const items = rows.map((row) => ({
    ...(row.state === 'delivered' ? toEvent(row) : limitUndelivered(toEvent(row), row.liveScopes)),
    state: row.state,
    nextAttemptAt: row.nextAttemptAt,
    attempts: byEvent.get(row.id) ?? [],
  }));
  return { items, total: counted[0]?.total ?? 0 };
}
