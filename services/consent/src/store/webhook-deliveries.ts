import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import type { WebhookState } from '@phds/catalog/webhooks';
import { select } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql from 'sql-template-tag';
import {
  type EventContent,
  type LiveScopes,
  limitUndelivered,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookEvent,
} from '../domain/webhook-event.ts';
import { GRANT_FROM, GRANT_STATUS } from './grant-rows.ts';
import { toSub } from './subs.ts';

/** The columns of an EventRow, of `webhook_event` v. */
export const EVENT_COLUMNS = sql`v.id, v.type, v.created_at AS "createdAt", v.grant_id AS "grantId",
  v.sub_hash AS "subHash", v.content`;

/** The scopes of the live grant of a `data.updated` v; null when it has ended. */
export const LIVE_SCOPES = sql`CASE WHEN v.type = 'data.updated' THEN (
  SELECT g.scopes FROM ${GRANT_FROM} WHERE g.id = v.grant_id AND ${GRANT_STATUS} = 'active') END`;

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
export async function listDeliveries(
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
