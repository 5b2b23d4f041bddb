import sql from 'sql-template-tag';
import { GRANT_FROM, LIVE, toSub } from '../grant-rows.ts';
import type { EventContent, WebhookEvent } from './domain/event.ts';

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
