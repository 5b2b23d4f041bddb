import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import type { WebhookState } from '@phds/catalog/webhooks';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import { GRANT_FROM, LIVE } from '../../grant-rows.ts';
import { toSub } from '../../store/subs.ts';
import type { OwnedApp, WebhookEndpointStore } from '../app/ports.ts';
import type { WebhookEndpoint } from '../domain/endpoint.ts';
import {
  type EventContent,
  type LiveScopes,
  limitUndelivered,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookEvent,
} from '../domain/event.ts';

/** The columns of a WebhookEndpoint, of `webhook_endpoint` w. */
export const COLUMNS = sql`w.id, coalesce(w.client_id, w.id) AS "clientId", w.url, w.events, w.secret_version AS "secretVersion",
  CASE WHEN w.previous_secret_until > statement_timestamp() THEN w.previous_secret_until END AS "previousSecretUntil",
  coalesce(w.disabled_reason, CASE WHEN w.paused_at IS NOT NULL THEN 'paused' END) AS "disabledReason", w.failing_since AS "failingSince", w.created_at AS "createdAt",
  w.updated_at AS "updatedAt"`;

/** Endpoints in table `webhook_endpoint`, events in `webhook_event`. Each method checks the owner of the app itself. */
export function createPgWebhookEndpoints(pool: pg.Pool): WebhookEndpointStore {
  const findEndpoint = async (app: OwnedApp): Promise<WebhookEndpoint | null> => {
    const [endpoint] = await select<WebhookEndpoint>(pool)`
      SELECT ${COLUMNS} FROM webhook_endpoint w JOIN app a ON a.client_id = w.client_id WHERE ${isOwn(app)}`;
    return endpoint ?? null;
  };
  return translatingErrors({
    async find(app) {
      const endpoint = await findEndpoint(app);
      return endpoint === null && !(await isKnown(pool, app)) ? 'unknown' : endpoint;
    },
    async put(app, { url, events, newId }) {
      const [endpoint] = await select<WebhookEndpoint>(pool)`
        INSERT INTO webhook_endpoint AS w (id, client_id, url, events)
        SELECT ${newId}, a.client_id, ${url}, ${events}::text[] FROM app a WHERE ${isOwn(app)}
        ON CONFLICT (client_id) DO UPDATE SET url = excluded.url, events = excluded.events, disabled_reason = NULL,
          failures = 0, failing_since = NULL, retry_at = NULL, updated_at = statement_timestamp()
        RETURNING ${COLUMNS}`;
      return endpoint === undefined ? null : { endpoint, isNew: endpoint.id === newId };
    },
    async remove(app) {
      if (!(await isKnown(pool, app))) return null;
      // Its events are not sent any more, because no endpoint has their id. They are pruned by their age.
      await execute(pool)`DELETE FROM webhook_endpoint WHERE client_id = ${app.clientId}`;
      return true;
    },
    async rotate(app, overlapSeconds) {
      const [endpoint] = await select<WebhookEndpoint>(pool)`
        UPDATE webhook_endpoint w SET secret_version = w.secret_version + 1, updated_at = statement_timestamp(),
          previous_secret_until = CASE WHEN ${overlapSeconds}::int > 0
            THEN statement_timestamp() + make_interval(secs => ${overlapSeconds}::int) END
        FROM app a WHERE a.client_id = w.client_id AND ${isOwn(app)}
        RETURNING ${COLUMNS}`;
      return endpoint ?? null;
    },
    addTest: (app, decide) => transact(pool, (tx) => addTest(tx, app, decide)),
    async listDeliveries(app, state, page) {
      const endpoint = await findEndpoint(app);
      return endpoint === null ? null : listDeliveries(pool, endpoint.id, state, page);
    },
    redeliver: (app, eventId) => redeliver(pool, app, eventId),
  });
}

function isOwn({ clientId, ownerId }: OwnedApp): Sql {
  return sql`a.client_id = ${clientId} AND a.owner_id = ${ownerId}`;
}

async function isKnown(pool: pg.Pool, app: OwnedApp): Promise<boolean> {
  return (await execute(pool)`SELECT FROM app a WHERE ${isOwn(app)}`) > 0;
}

async function addTest(
  tx: pg.ClientBase,
  app: OwnedApp,
  decide: (testsInLastMinute: number) => void,
): Promise<string | null> {
  // The lock serialises the tests of an endpoint, so that their number is exact.
  const [endpoint] = await select<{ id: string }>(tx)`
    SELECT w.id FROM webhook_endpoint w JOIN app a ON a.client_id = w.client_id WHERE ${isOwn(app)}
    FOR NO KEY UPDATE OF w`;
  if (endpoint === undefined) return null;
  const [counted] = await select<{ tests: number }>(tx)`
    SELECT count(*)::int AS tests FROM webhook_event
    WHERE endpoint_id = ${endpoint.id} AND type = 'test' AND created_at > statement_timestamp() - interval '1 minute'`;
  decide(counted?.tests ?? 0);
  const [added] = await select<{ id: string }>(tx)`
    INSERT INTO webhook_event (endpoint_id, type) VALUES (${endpoint.id}, 'test') RETURNING id`;
  return added?.id ?? null;
}

/**
 * With a new number, so that it neither overtakes nor delays the pending events of its grant. It counts as sent before, so that no change
 * is added to it: the receiver may know its id already. An attempt in progress goes on.
 */
async function redeliver(pool: pg.Pool, app: OwnedApp, eventId: string): Promise<boolean> {
  const redelivered = await execute(pool)`
    UPDATE webhook_event e SET
      number = CASE WHEN e.state = 'pending' THEN e.number ELSE nextval(pg_get_serial_sequence('webhook_event', 'number')) END,
      state = 'pending', attempts = greatest(1, CASE WHEN e.state = 'pending' THEN e.attempts ELSE 1 END),
      next_attempt_at = CASE WHEN e.lease IS NULL THEN statement_timestamp() ELSE e.next_attempt_at END,
      started_at = CASE WHEN e.state = 'pending' THEN e.started_at ELSE statement_timestamp() END
    FROM webhook_endpoint w JOIN app a ON a.client_id = w.client_id
    WHERE e.id = ${eventId} AND e.endpoint_id = w.id AND ${isOwn(app)}`;
  return redelivered > 0;
}

/** The columns of an EventRow, of `webhook_event` v. */
export const EVENT_COLUMNS = sql`v.id, v.type, v.created_at AS "createdAt", v.grant_id AS "grantId",
  v.sub_hash AS "subHash", v.content`;

/** The scopes of the live grant of a `data.updated` v; null when it has ended. */
export const LIVE_SCOPES = sql`CASE WHEN v.type = 'data.updated' THEN (
  SELECT g.scopes FROM ${GRANT_FROM} WHERE g.id = v.grant_id AND ${LIVE}) END`;

export interface EventRow extends Omit<WebhookEvent, 'sub'> {
  readonly subHash: Uint8Array | null;
  readonly content: EventContent;
}

export function toEvent({ id, type, createdAt, grantId, subHash, content }: EventRow): WebhookEvent {
  return { id, type, createdAt, grantId, sub: subHash === null ? null : toSub(subHash), content };
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
