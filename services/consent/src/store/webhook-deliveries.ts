import { type Listed, offsetOf, type Page } from '@phds/catalog/pagination';
import type { WebhookState } from '@phds/catalog/webhooks';
import type { EventContent, WebhookAttempt, WebhookDelivery, WebhookEvent } from '../domain/webhook-event.ts';
import { Prisma, type PrismaClient } from './generated/client.ts';
import { toSub } from './subs.ts';

/** The columns of an EventRow, of `webhook_event` v. */
export const EVENT_COLUMNS = Prisma.sql`v.id, v.type, v.created_at AS "createdAt", v.grant_id AS "grantId",
  v.sub_hash AS "subHash", v.content`;

export interface EventRow extends Omit<WebhookEvent, 'sub'> {
  readonly subHash: Uint8Array | null;
  readonly content: EventContent;
}

export function toEvent({ id, type, createdAt, grantId, subHash, content }: EventRow): WebhookEvent {
  return { id, type, createdAt, grantId, sub: subHash === null ? null : toSub(subHash), content };
}

type DeliveryRow = EventRow & Pick<WebhookDelivery, 'state' | 'nextAttemptAt'>;

/** Newest first. */
export async function listDeliveries(
  prisma: PrismaClient,
  endpointId: string,
  state: WebhookState | null,
  page: Page,
): Promise<Listed<WebhookDelivery>> {
  const where = Prisma.sql`v.endpoint_id = ${endpointId} AND (${state}::text IS NULL OR v.state = ${state}::text)`;
  const [rows, counted] = await Promise.all([
    prisma.$queryRaw<DeliveryRow[]>`
      SELECT ${EVENT_COLUMNS}, v.state, v.next_attempt_at AS "nextAttemptAt" FROM webhook_event v
      WHERE ${where} ORDER BY v.number DESC LIMIT ${page.pageSize} OFFSET ${offsetOf(page)}`,
    prisma.$queryRaw<{ total: number }[]>`SELECT count(*)::int AS total FROM webhook_event v WHERE ${where}`,
  ]);
  const ids = rows.map(({ id }) => id);
  const attempts = await prisma.$queryRaw<(WebhookAttempt & { eventId: string })[]>`
    SELECT event_id AS "eventId", at, status, failure, ms FROM webhook_attempt
    WHERE event_id = ANY(${ids}::text[]) ORDER BY at, id`;
  const byEvent = Map.groupBy(attempts, ({ eventId }) => eventId);
  const items = rows.map((row) => ({
    ...toEvent(row),
    state: row.state,
    nextAttemptAt: row.nextAttemptAt,
    attempts: byEvent.get(row.id) ?? [],
  }));
  return { items, total: counted[0]?.total ?? 0 };
}
