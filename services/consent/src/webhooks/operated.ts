import { type Listed, offsetOf, type Page, toPage } from '@phds/catalog/pagination';
import { HOST_EVENTS, type WebhookState } from '@phds/catalog/webhooks';
import {
  type OperatedWebhook,
  OperatedWebhookSchema,
  type Webhook,
  WebhookOperatorService,
} from '@phds/contracts/phds/consent/v1/webhooks_pb';
import { execute, select } from '@phds/service-kit/postgres/sql';
import { type Row, toMessage } from '@phds/service-kit/rpc/rows';
import { implement } from '@phds/service-kit/rpc/service';
import { OPERATORS, VIEWERS } from '@phds/service-kit/trust/callers';
import type pg from 'pg';
import sql from 'sql-template-tag';
import { parseMoment, parseName } from '../parameters.ts';
import { refuseMissing, WEBHOOK_COLUMNS } from './endpoints.ts';
import type { HostWebhook } from './host-webhooks.ts';

/** Events that one statement makes due. */
const AT_ONCE = 1_000;

const isNamed = (name: string) => sql`(w.client_id = ${name} OR (w.client_id IS NULL AND w.id = ${name}))`;

/**
 * phds.consent.v1.WebhookOperatorService: the endpoints of all apps, by client id, and those of the deployment, by id. Throws `not_found`
 * without an endpoint.
 */
export function createWebhookOperatorService(pool: pg.Pool) {
  return implement(
    WebhookOperatorService,
    {
      async listWebhooks({ page }) {
        const { items, total } = await listWebhooks(pool, toPage(page));
        return { webhooks: items.map((item) => toMessage(OperatedWebhookSchema, item)), total };
      },
      async setWebhookPaused({ clientId, paused }) {
        const found = await execute(pool)`
          UPDATE webhook_endpoint w SET paused_at = CASE WHEN ${paused}::boolean THEN coalesce(paused_at, statement_timestamp()) END
          WHERE ${isNamed(parseName('clientId', clientId))}`;
        if (found === 0) refuseMissing();
        return {};
      },
      async redeliverEvents({ clientId, since, deliveredToo }) {
        const states = deliveredToo ? (['failed', 'delivered'] as const) : (['failed'] as const);
        const from = parseMoment('since', since);
        return { events: await redeliverSince(pool, parseName('clientId', clientId), from, states) };
      },
    },
    { listWebhooks: VIEWERS, setWebhookPaused: OPERATORS, redeliverEvents: OPERATORS },
  );
}

/** Those in trouble first. */
export async function listWebhooks(pool: pg.Pool, page: Page): Promise<Listed<Row<OperatedWebhook>>> {
  const [rows, counted] = await Promise.all([
    select<Row<Webhook> & Row<OperatedWebhook>>(pool)`
      SELECT ${WEBHOOK_COLUMNS}, w.paused_at AS "pausedAt", a.profile->>'name' AS "appName", e.pending, e.failed
      FROM webhook_endpoint w LEFT JOIN app a ON a.client_id = w.client_id CROSS JOIN LATERAL (
        SELECT count(*) FILTER (WHERE state = 'pending')::int AS pending,
          count(*) FILTER (WHERE state = 'failed')::int AS failed
        FROM webhook_event WHERE endpoint_id = w.id AND state <> 'delivered') e
      ORDER BY (w.disabled_reason IS NULL AND w.paused_at IS NULL AND w.failing_since IS NULL), w.created_at DESC, w.id
      LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}`,
    select<{ total: number }>(pool)`SELECT count(*)::int AS total FROM webhook_endpoint`,
  ]);
  return { items: rows.map((row) => ({ ...row, webhook: row })), total: counted[0]?.total ?? 0 };
}

/** Makes events due that were made since then, in their order. Returns how many. */
async function redeliverSince(
  pool: pg.Pool,
  clientId: string,
  since: Date,
  states: readonly WebhookState[],
): Promise<number> {
  const [endpoint] = await select<{ id: string; last: string }>(pool)`
    SELECT w.id, coalesce((SELECT max(number) FROM webhook_event e WHERE e.endpoint_id = w.id), 0)::text AS last
    FROM webhook_endpoint w WHERE ${isNamed(clientId)}`;
  if (endpoint === undefined) return refuseMissing();
  let total = 0;
  for (let made = AT_ONCE; made === AT_ONCE; total += made) {
    // New numbers in the order of the old ones, as of one event that its developer has delivered again.
    made = await execute(pool)`
      WITH chosen AS MATERIALIZED (
        SELECT id FROM webhook_event
        WHERE endpoint_id = ${endpoint.id} AND number <= ${endpoint.last}::bigint AND state = ANY(${states}::text[])
          AND created_at >= ${since}
        ORDER BY webhook_event.number LIMIT ${AT_ONCE} FOR UPDATE
      ), numbered AS MATERIALIZED (
        SELECT id, nextval(pg_get_serial_sequence('webhook_event', 'number')) AS number FROM chosen
      )
      UPDATE webhook_event e SET number = n.number, state = 'pending', attempts = 1,
        next_attempt_at = statement_timestamp(), started_at = statement_timestamp()
      FROM numbered n WHERE e.id = n.id`;
  }
  return total;
}

/**
 * Adds and changes the deployment's own endpoints, as this process is configured, enables those that were gone, and removes all others,
 * whose events are not sent any more.
 */
export async function storeHostEndpoints(pool: pg.Pool, configured: readonly HostWebhook[]): Promise<void> {
  const [ids, urls] = [configured.map(({ id }) => id), configured.map(({ url }) => url)];
  await execute(pool)`DELETE FROM webhook_endpoint WHERE client_id IS NULL AND id <> ALL(${ids}::text[])`;
  await execute(pool)`
    INSERT INTO webhook_endpoint (id, url, events)
    SELECT id, url, ${HOST_EVENTS}::text[] FROM unnest(${ids}::text[], ${urls}::text[]) AS c(id, url)
    ON CONFLICT (id) DO UPDATE SET url = excluded.url, events = excluded.events, disabled_reason = NULL,
      updated_at = statement_timestamp()`;
}
