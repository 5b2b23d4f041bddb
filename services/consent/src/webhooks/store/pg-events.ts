import { scopeOfCategory } from '@phds/catalog/endpoints';
import type { WebhookEvent as ChosenEvent } from '@phds/catalog/webhooks';
import { translatingErrors } from '@phds/service-kit/postgres/errors';
import { execute, select, transact } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';
import sql, { Sql } from 'sql-template-tag';
import type { GrantTerms } from '../../domain/grant.ts';
import { IS_ENDING_EPOCH, LIVE } from '../../store/grant-rows.ts';
import { PLACE_COLUMNS, type Place, selectByEnd } from '../../store/grants-by-end.ts';
import type { DataChange, DataChangeStore, DataEventTimes, WebhookCauseStore } from '../app/ports.ts';
import type { EventContent } from '../domain/event.ts';

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
  content: EventContent | Sql,
  condition: Sql = sql`true`,
): Sql {
  return sql`
    INSERT INTO webhook_event (endpoint_id, grant_id, sub_hash, type, content)
    SELECT w.id, g.id, sub_hash(g.user_ref, g.client_id), ${type}::text, ${content instanceof Sql ? content : sql`${JSON.stringify(content)}::jsonb`}
    FROM ${grants} g JOIN webhook_endpoint w ON w.client_id = g.client_id
    WHERE ${wanting(type)} AND ${condition}`;
}

/** The events of the grants `ended`. One that had expired before makes a `grant.expired` instead. */
export function insertRevoked(endedBy: 'person' | 'app' | 'operator'): Sql {
  const wasLive = sql`g.expires_at > g.revoked_at`;
  return insertEvents('grant.revoked', sql`ended`, { endedBy }, wasLive);
}

/** The event of the grant in `requested`, whose person asks for deletion. */
export function insertDeletionRequested(requested: Sql): Sql {
  const content = sql`jsonb_build_object('requestedAt', ${toIsoText(sql`g.deletion_requested_at`)})`;
  return insertEvents('grant.deletion_requested', requested, content);
}

function toIsoText(at: Sql): Sql {
  return sql`to_char(${at} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
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

/** Events of changed readings, in table `webhook_event`. */
export function createPgDataChanges(pool: pg.Pool): DataChangeStore {
  return translatingErrors({ add: (changes, times) => add(pool, changes, times) });
}

/**
 * One statement, which finds the people's grants by index. The lock keeps a grant from being erased until the commit (like addGrantNotices).
 * Postgres checks the unique index of unsent events again after it has waited for a sender, so a change is never added to an event that
 * is being sent.
 */
async function add(pool: pg.Pool, changes: readonly DataChange[], times: DataEventTimes): Promise<void> {
  if (changes.length === 0) return;
  await execute(pool)`
    INSERT INTO webhook_event AS e (endpoint_id, grant_id, sub_hash, type, content, next_attempt_at, started_at)
    SELECT w.id, g.id, sub_hash(g.user_ref, g.client_id), 'data.updated', c.content, due.at, due.at
    FROM consent_grant g
    JOIN webhook_endpoint w ON w.client_id = g.client_id AND ${wanting('data.updated')}
    JOIN app a ON a.client_id = g.client_id AND a.status = 'active'
    CROSS JOIN LATERAL (
      SELECT jsonb_build_object('categories', jsonb_agg(DISTINCT n.category),
        'lastDataAt', ${toIsoText(sql`max(n.at)`)}) AS content
      FROM unnest(${changes.map(({ userId }) => userId)}::text[], ${changes.map(({ category }) => category)}::text[],
        ${changes.map(({ category }) => scopeOfCategory(category))}::text[], ${changes.map(({ at }) => at.toISOString())}::timestamptz[],
        ${changes.map(({ latestReadingAt }) => latestReadingAt.toISOString())}::timestamptz[])
        AS n(user_id, category, scope, at, latest_reading_at)
      WHERE n.user_id = g.user_id AND n.scope = ANY(g.scopes)
        AND (g.data_from IS NULL OR n.latest_reading_at >= g.data_from - interval '1 day')
      HAVING count(*) > 0
    ) c
    CROSS JOIN LATERAL (
      SELECT greatest(statement_timestamp() + make_interval(secs => ${times.delayMs / 1_000}::double precision), (
        SELECT l.started_at + make_interval(secs => ${times.spacingMs / 1_000}::double precision) FROM webhook_event l
        WHERE l.grant_id = g.id AND l.type = 'data.updated' ORDER BY l.number DESC LIMIT 1)) AS at
    ) due
    WHERE g.user_id = ANY(${[...new Set(changes.map(({ userId }) => userId))]}::text[])
      AND g.closed_at IS NULL AND ${LIVE}
    ORDER BY g.id FOR KEY SHARE OF g
    ON CONFLICT (grant_id) WHERE type = 'data.updated' AND state = 'pending' AND attempts = 0
    DO UPDATE SET endpoint_id = excluded.endpoint_id, content = jsonb_build_object(
      'categories', (SELECT jsonb_agg(DISTINCT each) FROM jsonb_array_elements(
        (e.content->'categories') || (excluded.content->'categories')) each),
      'lastDataAt', greatest(e.content->>'lastDataAt', excluded.content->>'lastDataAt'))`;
}

/**
 * Seconds after its end from which a grant is announced as expired: longer than a transaction can take that sets an end in its near
 * future. So no such grant appears behind the place that the search has reached.
 */
const MARGIN_SECONDS = 15;

/** Events of grants that no statement changes when they end. Row locks keep several instances from doing the same work. */
export function createPgWebhookCauses(pool: pg.Pool): WebhookCauseStore {
  return translatingErrors({
    addExpired: (size) => transact(pool, (tx) => addExpired(tx, size)),
    addRevokedWithApp: (size) => transact(pool, (tx) => addRevokedWithApp(tx, size)),
  });
}

/** In the order of their ends. A grant that was revoked, alone or with its app, only after its end has expired all the same. */
async function addExpired(tx: pg.ClientBase, size: number): Promise<boolean> {
  const [place] = await select<Place>(tx)`
    SELECT ${PLACE_COLUMNS} FROM webhook_scan FOR UPDATE SKIP LOCKED`;
  if (place === undefined) return false;
  const isOver = sql`expires_at <= statement_timestamp() - make_interval(secs => ${MARGIN_SECONDS}::int)`;
  const grants = await selectByEnd(tx, place, isOver, size);
  const last = grants.at(-1);
  if (last === undefined) return false;
  await execute(tx)`
    WITH expired AS (
      SELECT g.* FROM consent_grant g
      LEFT JOIN app_epoch e ON ${IS_ENDING_EPOCH}
      WHERE g.id = ANY(${grants.map(({ id }) => id)}::text[])
        AND g.expires_at <= coalesce(g.revoked_at, 'infinity') AND g.expires_at <= coalesce(e.started_at, 'infinity')
      ORDER BY g.id FOR KEY SHARE OF g
    )
    ${insertEvents('grant.expired', sql`expired`, { endedBy: 'expiry' })}`;
  await execute(tx)`UPDATE webhook_scan SET place_at = ${last.expiresAt}, place_id = ${last.id}`;
  return grants.length === size;
}

/** Those whose epoch ended with this revocation, and that were live then, in the order of their start. */
async function addRevokedWithApp(tx: pg.ClientBase, size: number): Promise<boolean> {
  const [fanout] = await select<Place & { clientId: string; endedAt: Date }>(tx)`
    SELECT client_id AS "clientId", ended_at AS "endedAt", ${PLACE_COLUMNS}
    FROM webhook_fanout LIMIT 1 FOR UPDATE SKIP LOCKED`;
  if (fanout === undefined) return false;
  const { clientId, endedAt, placeAt, placeId } = fanout;
  const grants = await select<{ id: string; at: Date }>(tx)`
    SELECT id, granted_at AS at FROM consent_grant
    WHERE client_id = ${clientId} AND (granted_at, id) > (coalesce(${placeAt}::timestamptz, '-infinity'), ${placeId})
    ORDER BY granted_at, id LIMIT ${size}`;
  await execute(tx)`
    WITH ended AS (
      SELECT g.* FROM consent_grant g
      JOIN app_epoch e ON ${IS_ENDING_EPOCH} AND e.started_at = ${endedAt}
      WHERE g.id = ANY(${grants.map(({ id }) => id)}::text[]) AND g.expires_at > ${endedAt}
        AND coalesce(g.revoked_at, 'infinity') > ${endedAt}
      ORDER BY g.id FOR KEY SHARE OF g
    )
    ${insertEvents('grant.revoked', sql`ended`, { endedBy: 'developer' })}`;
  const last = grants.length < size ? undefined : grants.at(-1);
  await (last === undefined
    ? execute(tx)`DELETE FROM webhook_fanout WHERE client_id = ${clientId} AND ended_at = ${endedAt}`
    : execute(tx)`
        UPDATE webhook_fanout SET place_at = ${last.at}, place_id = ${last.id}
        WHERE client_id = ${clientId} AND ended_at = ${endedAt}`);
  return true;
}
