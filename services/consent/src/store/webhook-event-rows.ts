import type { WebhookEvent as ChosenEvent } from '@phds/catalog/webhooks';
import type { GrantTerms } from '../domain/grant.ts';
import type { EventContent } from '../domain/webhook-event.ts';
import { Prisma } from './generated/client.ts';

/** The endpoints `w` that want an event of this type. Most apps have none, so their changes cost one look-up by key. */
export function wanting(type: ChosenEvent): Prisma.Sql {
  return Prisma.sql`${type}::text = ANY(w.events) AND w.disabled_reason IS NULL`;
}

/**
 * Inserts an event for each of the grants, a row source with the columns of `consent_grant`, whose app wants it. Part of the statement
 * that changes the grants, so that the events are committed with their cause and in its order.
 */
export function insertEvents(
  type: ChosenEvent,
  grants: Prisma.Sql,
  content: EventContent,
  condition: Prisma.Sql = Prisma.sql`true`,
): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO webhook_event (endpoint_id, grant_id, sub_hash, type, content)
    SELECT w.id, g.id, sub_hash(g.user_ref, g.client_id), ${type}::text, ${JSON.stringify(content)}::jsonb
    FROM ${grants} g JOIN webhook_endpoint w ON w.client_id = g.client_id
    WHERE ${wanting(type)} AND ${condition}`;
}

/** The events of the grants `ended`. One that had expired before makes a `grant.expired` instead. */
export function insertRevoked(endedBy: 'person' | 'app'): Prisma.Sql {
  const wasLive = Prisma.sql`g.expires_at > g.revoked_at`;
  return insertEvents('grant.revoked', Prisma.sql`ended`, { endedBy }, wasLive);
}

/** Replaces the terms of a locked grant by narrower ones, and adds the event. */
export async function writeNarrowed(
  tx: Prisma.TransactionClient,
  grantId: string,
  terms: GrantTerms,
): Promise<void> {
  const { scopes, expiresAt, dataFrom } = terms;
  const content = { scopes, expiresAt: expiresAt.toISOString(), dataFrom };
  await tx.$executeRaw`
    WITH narrowed AS (
      UPDATE consent_grant SET scopes = ${scopes}::text[], expires_at = ${expiresAt}, data_from = ${dataFrom}::date
      WHERE id = ${grantId}
      RETURNING *
    )
    ${insertEvents('grant.narrowed', Prisma.sql`narrowed`, content)}`;
}
