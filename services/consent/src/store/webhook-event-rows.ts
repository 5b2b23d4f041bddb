import type { WebhookEvent as ChosenEvent } from '@phds/catalog/webhooks';
import { execute } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { type Sql } from 'sql-template-tag';
import type { GrantTerms } from '../domain/grant.ts';
import type { EventContent } from '../domain/webhook-event.ts';

/** The endpoints `w` that want an event of this type. Most apps have none, so their changes cost one look-up by key. */
export function wanting(type: ChosenEvent): Sql {
  return sql`${type}::text = ANY(w.events) AND w.disabled_reason IS NULL`;
}

/**
 * Inserts an event for each of the grants, a row source with the columns of `consent_grant`, whose app wants it. Part of the statement
 * that changes the grants, so that the events are committed with their cause and in its order.
 */
export function insertEvents(
  type: ChosenEvent,
  grants: Sql,
  content: EventContent,
  condition: Sql = sql`true`,
): Sql {
  return sql`
    INSERT INTO webhook_event (endpoint_id, grant_id, sub_hash, type, content)
    SELECT w.id, g.id, sub_hash(g.user_ref, g.client_id), ${type}::text, ${JSON.stringify(content)}::jsonb
    FROM ${grants} g JOIN webhook_endpoint w ON w.client_id = g.client_id
    WHERE ${wanting(type)} AND ${condition}`;
}

/** The events of the grants `ended`. One that had expired before makes a `grant.expired` instead. */
export function insertRevoked(endedBy: 'person' | 'app'): Sql {
  const wasLive = sql`g.expires_at > g.revoked_at`;
  return insertEvents('grant.revoked', sql`ended`, { endedBy }, wasLive);
}

/** Replaces the terms of a locked grant by narrower ones, and adds the event. */
export async function writeNarrowed(tx: pg.ClientBase, grantId: string, terms: GrantTerms): Promise<void> {
  const { scopes, expiresAt, dataFrom } = terms;
  const content = { scopes, expiresAt: expiresAt.toISOString(), dataFrom };
  await execute(tx)`
    WITH narrowed AS (
      UPDATE consent_grant SET scopes = ${scopes}::text[], expires_at = ${expiresAt}, data_from = ${dataFrom}::date
      WHERE id = ${grantId}
      RETURNING *
    )
    ${insertEvents('grant.narrowed', sql`narrowed`, content)}`;
}
