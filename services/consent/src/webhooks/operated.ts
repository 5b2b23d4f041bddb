import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import { HOST_EVENTS, type WebhookState } from '@phds/catalog/webhooks';
import { execute, select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import type { OperatedEndpoint } from './domain/endpoint.ts';
import { COLUMNS, refuseMissing } from './endpoints.ts';
import type { HostWebhook } from './host-webhooks.ts';

/** Events that one statement makes due. */
const AT_ONCE = 1_000;

const isNamed = (name: string) => sql`(w.client_id = ${name} OR (w.client_id IS NULL AND w.id = ${name}))`;

export type OperatedWebhooks = ReturnType<typeof createOperatedWebhooks>;

/** The endpoints of all apps, by client id, and those of the deployment, by id, for operators. Throws `not_found` without an endpoint. */
export function createOperatedWebhooks(pool: pg.Pool) {
  return {
    /** Those in trouble first. */
    async list(page: Page): Promise<Listed<OperatedEndpoint>> {
      const [items, counted] = await Promise.all([
        select<OperatedEndpoint>(pool)`
          SELECT ${COLUMNS}, w.paused_at AS "pausedAt", coalesce(a.name, '') AS "appName", e.pending, e.failed
          FROM webhook_endpoint w LEFT JOIN app a ON a.client_id = w.client_id CROSS JOIN LATERAL (
            SELECT count(*) FILTER (WHERE state = 'pending')::int AS pending,
              count(*) FILTER (WHERE state = 'failed')::int AS failed
            FROM webhook_event WHERE endpoint_id = w.id AND state <> 'delivered') e
          ORDER BY (w.disabled_reason IS NULL AND w.paused_at IS NULL AND w.failing_since IS NULL), w.created_at DESC, w.id
          LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}`,
        select<{ total: number }>(pool)`SELECT count(*)::int AS total FROM webhook_endpoint`,
      ]);
      return { items, total: counted[0]?.total ?? 0 };
    },
    async pause(clientId: string, isPaused: boolean): Promise<void> {
      const found = await execute(pool)`
        UPDATE webhook_endpoint w SET paused_at = CASE WHEN ${isPaused}::boolean THEN coalesce(paused_at, statement_timestamp()) END
        WHERE ${isNamed(clientId)}`;
      if (found === 0) refuseMissing();
    },
    /** Makes events due that were made since then, in their order. Returns how many. */
    async redeliverSince(clientId: string, since: Date, states: readonly WebhookState[]): Promise<number> {
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
    },
  };
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
